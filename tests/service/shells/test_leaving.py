"""In which words is somebody told that the worker beside them has ended?"""

from __future__ import annotations

from dataclasses import replace

import pytest
from control_plane.shells import leaving

from jobs.lifecycle import JobState
from jobs.models import Job, Worker
from tests.service.conftest import assign
from tests.service.shells.test_session import ORDER


@pytest.fixture(autouse=True)
def same_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test's transaction is of this connection."""
    monkeypatch.setattr(leaving.connection, "close", lambda: None)


def why(job: Job, worker: Worker) -> str:
    return leaving.why_gone(replace(ORDER, job_id=job.id, worker=worker.id))


def test_a_change_of_size_that_took_it_is_told_with_its_reason(
    job: Job, workers: list[Worker]
) -> None:
    assert why(job, workers[1]) == ""
    assign(job, workers[:1], batch=64, reason="reclaimed")

    said = "The job was given 1 worker instead, without this one. 1 workers are best."
    assert why(job, workers[1]) == said


def test_the_end_of_the_job_and_its_own_failure_are_told(job: Job, workers: list[Worker]) -> None:
    Worker.objects.filter(pk=workers[0].pk).update(error="exit code 1")
    assert why(job, workers[0]) == "exit code 1"
    Job.objects.filter(pk=job.pk).update(state=JobState.STOPPING)
    assert why(job, workers[0]) == "The job is stopping."
