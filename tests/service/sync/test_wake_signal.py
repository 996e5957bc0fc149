"""Is a coordinator woken once what is wanted of its job is committed, and not before?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from rest_framework.test import APIClient

from jobs.changes.transitions import move
from jobs.changes.wake_signal import announce_wanted, wanted_changed
from jobs.lifecycle import JobState
from jobs.models import Job, Worker
from tests.service.syncing import began, report, sync

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def woken() -> Iterator[list[frozenset[str]]]:
    heard: list[frozenset[str]] = []

    def hear(job_ids: frozenset[str], **_: Any) -> None:
        heard.append(job_ids)

    wanted_changed.connect(hear)
    announce_wanted("nobody")  # with whom goes what other tests took back
    heard.clear()
    yield heard
    wanted_changed.disconnect(hear)


def test_jobs_that_change_together_are_announced_together_after_the_commit(
    woken: list[frozenset[str]],
) -> None:
    with transaction.atomic():
        announce_wanted("a")
        announce_wanted("b")
        assert not woken
    assert woken == [{"a", "b"}]


def test_a_change_that_failed_wakes_nobody(woken: list[frozenset[str]]) -> None:
    with transaction.atomic():
        announce_wanted("a")
        transaction.set_rollback(True)
    assert not woken


def test_a_job_that_is_to_stop_is_announced_and_one_that_says_it_runs_is_not(
    api: APIClient, job: Job, workers: list[Worker], woken: list[frozenset[str]]
) -> None:
    woken.clear()
    sync(job, report(generation=1, generations=[began(1, workers)]))
    job.refresh_from_db()
    assert job.state == JobState.RUNNING
    assert not woken
    assert api.post(f"/api/v1/jobs/{job.id}/cancel").status_code < 300
    assert woken == [{job.id}]


def test_a_rescale_is_announced(
    job: Job, workers: list[Worker], woken: list[frozenset[str]]
) -> None:
    sync(job, report(generation=1, generations=[began(1, workers)]))
    woken.clear()
    move(job.id, {JobState.RUNNING}, JobState.RESCALING, reason="fair_share")
    assert woken == [{job.id}]
