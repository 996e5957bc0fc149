"""What does a sync answer that waited while the control loop changed its job?"""

from __future__ import annotations

import pytest

from jobs.changes.transitions import move
from jobs.lifecycle import JobState
from jobs.models import Job, Worker
from tests.service.at_once import ask_at_once
from tests.service.conftest import assign
from tests.service.syncing import began, report, sync

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_sync_that_waited_for_a_decision_knows_it(job: Job, workers: list[Worker]) -> None:
    trained = report(generation=1, generations=[began(1, workers)])
    sync(job, trained)

    def decide() -> None:
        assign(job, workers[:1], batch=32, reason="reclaim_guarantee")
        move(job.id, {JobState.RUNNING}, JobState.RESCALING, reason="reclaim_guarantee")

    _, answer = ask_at_once(decide, lambda: sync(job, trained))
    assert (answer.json()["revision"], answer.json()["workers"]) == (2, [workers[0].id])
    job.refresh_from_db()
    assert job.state == JobState.RESCALING


def test_two_reports_at_once_are_stored_one_after_the_other(
    job: Job, workers: list[Worker]
) -> None:
    def tell(number: int) -> int:
        body = report(generation=number, generations=[began(number, workers)])
        return int(sync(job, body).status_code)

    assert ask_at_once(lambda: tell(1), lambda: tell(2)) == (200, 200)
    job.refresh_from_db()
    assert (job.generation, job.state) == (2, JobState.RUNNING)
