"""Does a job begin with what an earlier run of the same training measured?"""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from jobs.admission.earlier_runs import MOST_INHERITED, measurements_of
from jobs.lifecycle import JobState
from jobs.models import Event, GpuClaim, Job, Measurement
from tests.service.conftest import SubmitJob, run, spec
from tests.service.syncing import measured, report, sync


@pytest.fixture
def earlier(submit: SubmitJob) -> Job:
    """A run that measured two sizes and, while it trained, more and more noise."""
    job = submit()
    run(job, workers=2)
    sync(job, report(measurements=[measured(1, 64), measured(2, 128)], noise_scale=32.0))
    Job.objects.filter(pk=job.pk).update(noise_scale=900.0, batch_limits={"slot": 32})
    return ended(job)


def ended(job: Job) -> Job:
    GpuClaim.objects.filter(worker__job=job).delete()
    Job.objects.filter(pk=job.pk).update(state=JobState.CANCELLED)
    job.refresh_from_db()
    return job


def known_of(job: Job) -> set[tuple[int, int]]:
    """Numbers of workers and batches that it began with."""
    return {(one.workers, one.global_batch_size) for one in measurements_of(job)}


def test_a_new_run_begins_with_what_the_last_one_measured(earlier: Job, submit: SubmitJob) -> None:
    job = submit(name="again", priority=9, elastic={"max_workers": 2}, labels={"run": "2"})
    assert known_of(job) == {(1, 64), (2, 128)}
    assert job.earlier_run == earlier.id
    assert job.noise_scale == 32.0  # as at the beginning, where this run is
    assert job.model_bytes == earlier.model_bytes
    assert job.batch_limits == {"slot": 32}
    told = Event.objects.get(job=job, kind="submitted").message
    assert f"known from job {earlier.id}, which trained the same" in told


@pytest.mark.parametrize(
    "changes",
    [
        {"command": ["python", "train.py", "--width", "48"]},
        {"workdir": "/elsewhere"},
        {"env": {"MODEL": "large"}},
        {"resources": {"gpus_per_worker": 2}},
    ],
)
def test_another_training_tells_nothing(
    earlier: Job, submit: SubmitJob, changes: dict[str, Any]
) -> None:
    job = submit(**changes)
    assert known_of(job) == set()
    assert (job.earlier_run, job.noise_scale, job.model_bytes) == ("", None, 0)


def test_another_team_learns_nothing(earlier: Job, foreign_api: APIClient) -> None:
    answer = foreign_api.post("/api/v1/jobs", spec(), format="json")
    assert known_of(Job.objects.get(pk=answer.json()["id"])) == set()


def test_a_run_hands_on_what_it_began_with_beside_what_it_measured(
    earlier: Job, submit: SubmitJob
) -> None:
    middle = submit()
    run(middle, workers=2)
    sync(middle, report(measurements=[measured(3, 64)]))
    ended(middle)
    earlier.delete()
    job = submit()
    assert known_of(job) == {(1, 64), (2, 128), (3, 64)}
    assert (job.earlier_run, job.noise_scale) == (middle.id, 32.0)


def test_what_a_run_found_to_be_wrong_is_not_handed_on(earlier: Job, submit: SubmitJob) -> None:
    middle = submit()
    run(middle, workers=2)
    sync(middle, report(measurements=[measured(2, 128, step_seconds=9.0), measured(3, 64)]))
    ended(middle)
    assert known_of(submit()) == {(2, 128), (3, 64)}


def test_runs_that_measured_nothing_are_passed_over(earlier: Job, submit: SubmitJob) -> None:
    for _ in range(3):
        waiting = submit()
        assert waiting.earlier_run == earlier.id
        ended(waiting)


def test_only_so_much_is_inherited(earlier: Job, submit: SubmitJob) -> None:
    Measurement.objects.bulk_create(
        Measurement(
            job=earlier, workers=n, global_batch_size=512, steps=9, step_seconds=1.0, gpu_type="a"
        )
        for n in range(1, 2 * MOST_INHERITED)
    )
    assert len(known_of(submit())) == MOST_INHERITED


def test_noise_it_only_inherited_is_not_told_as_measured(
    api: APIClient, earlier: Job, submit: SubmitJob
) -> None:
    job = submit()

    def told() -> tuple[float | None, bool]:
        found = api.get(f"/api/v1/jobs/{job.id}").json()
        return found["noise_scale"], found["batch_worth"] is not None

    assert told() == (None, False)
    run(job, workers=2)
    sync(job, report(noise_scale=64.0))
    assert told() == (64.0, True)  # and nothing of the inherited is in it
