"""A sweep of team vision, trials whose progress the test tells, and rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from control_plane.queries.pool_capacities import read_pools
from django.utils import timezone
from rest_framework.test import APIClient
from sweeps.models import Sweep
from sweeps.rounds import one_round

from jobs.changes.transitions import move
from jobs.lifecycle import JobState
from jobs.models import Job, MetricPoint
from tests.service.conftest import spec

PATH = "/api/v1/sweeps"
AddSweep = Callable[..., Sweep]


class Killed(BaseException):
    """The process ends here."""


def wanted(**field: Any) -> dict[str, Any]:
    """A spec whose trials are compared after 1 and 3 of 9 epochs."""
    sweep = {
        "parameters": {"lr": {"log_uniform": [1e-4, 0.1]}},
        "trials": 9,
        "metric": {"name": "loss", "goal": "min"},
        "max_running": 3,
        "asha": {"max": 9},
        **field,
    }
    return spec(env={"LR": "{{lr}}"}, sweep=sweep)


def add_by(client: APIClient, **field: Any) -> Sweep:
    answer = client.post(PATH, wanted(**field), format="json")
    assert answer.status_code == 201, answer.json()
    return Sweep.objects.get(pk=answer.json()["id"])


@pytest.fixture
def add(api: APIClient) -> AddSweep:
    def add_one(**field: Any) -> Sweep:
        return add_by(api, **field)

    return add_one


def go() -> None:
    """One round."""
    one_round.run_round(read_pools, clock=timezone.now, has_time=lambda: True)


def trials(sweep: Sweep) -> Mapping[int, Job]:
    """The trials by their numbers, as they are now."""
    return {job.trial["number"]: job for job in Job.objects.filter(array=sweep.pk)}


def states(sweep: Sweep) -> dict[int, str]:
    return {number: job.state for number, job in sorted(trials(sweep).items())}


def runs(job: Job) -> None:
    """Let it hold workers, as the loop does."""
    Job.objects.filter(pk=job.pk).update(
        state=JobState.RUNNING, started_at=timezone.now(), reason="best_allocation"
    )


def tells(job: Job, epoch: float, **values: float | None) -> None:
    """Let it report progress."""
    if Job.objects.get(pk=job.pk).state == JobState.QUEUED:
        runs(job)
    step = int(epoch * 1000)
    MetricPoint.objects.create(
        job=job,
        at=timezone.now(),
        generation=1,
        step=step,
        epoch=epoch,
        samples=step * 10,
        samples_per_second=1.0,
        step_seconds=1.0,
        compute_seconds=1.0,
        communication_seconds=0.0,
        learning_rate=0.1,
        values=values,
    )
    known = Job.objects.get(pk=job.pk)
    Job.objects.filter(pk=job.pk).update(
        epoch=epoch, step=step, samples=step * 10, values={**known.values, **values}
    )


def ends(job: Job, state: JobState = JobState.COMPLETED) -> None:
    runs(job)
    move(
        job.id,
        {JobState.RUNNING},
        JobState.STOPPING,
        reason="completed",
        changes={"ends_as": state},
    )
    settle(job)


def settle(*jobs: Job) -> None:
    """Let what stops have stopped, as the loop does: reason and message stay."""
    for job in Job.objects.filter(pk__in=[one.pk for one in jobs], state=JobState.STOPPING):
        move(
            job.id,
            {JobState.STOPPING},
            JobState(job.ends_as),
            reason=job.reason,  # type: ignore[arg-type] # of a row
            message=job.message,
            changes={"ends_as": ""},
        )
