"""Does a job begin with what an earlier run of the same training measured?"""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from jobs.admission.earlier_runs import MOST_INHERITED, MOST_RUNS
from jobs.lifecycle import State
from jobs.models import Event, GpuClaim, Job, Measurement
from tests.service.conftest import SubmitJob, run, spec
from tests.service.syncing import measured, report, sync


@pytest.fixture
def earlier(submit: SubmitJob) -> Job:
    """A run that measured two sizes and, while it trained, more and more noise."""
    job = submit()
    run(job, workers=2)
    sync(job, report(measurements=[measured(1, 64), measured(2, 128)], noise_scale=32.0))
    Job.objects.filter(pk=job.pk).update(noise_scale=900.0)
    return ended(job)


def ended(job: Job) -> Job:
    GpuClaim.objects.filter(worker__job=job).delete()
    Job.objects.filter(pk=job.pk).update(state=State.CANCELLED)
    job.refresh_from_db()
    return job


def known_of(job: Job) -> set[tuple[int, int, bool]]:
    rows = Measurement.objects.filter(job=job)
    return set(rows.values_list("workers", "global_batch_size", "is_of_earlier_run"))


def test_a_new_run_begins_with_what_the_last_one_measured(earlier: Job, submit: SubmitJob) -> None:
    job = submit(name="again", priority=9, elastic={"max_workers": 2}, labels={"run": "2"})
    assert known_of(job) == {(1, 64, True), (2, 128, True)}
    assert job.earlier_run == earlier.id
    assert job.noise_scale == 32.0  # as at the beginning, where this run is
    assert job.model_bytes == earlier.model_bytes
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


def test_its_own_measurements_take_the_place_of_those_it_began_with(
    earlier: Job, submit: SubmitJob
) -> None:
    job = submit()
    run(job, workers=2)
    sync(job, report(measurements=[measured(1, 64), measured(2, 64)]))
    assert known_of(job) == {(1, 64, False), (2, 64, False), (2, 128, True)}


def test_a_run_hands_on_what_it_inherited_beside_what_it_measured(
    earlier: Job, submit: SubmitJob
) -> None:
    middle = submit()
    run(middle, workers=2)
    sync(middle, report(measurements=[measured(3, 64)]))
    ended(middle)
    earlier.delete()
    job = submit()
    assert known_of(job) == {(1, 64, True), (2, 128, True), (3, 64, True)}
    assert (job.earlier_run, job.noise_scale) == (middle.id, 32.0)


def test_runs_that_measured_nothing_are_passed_over(earlier: Job, submit: SubmitJob) -> None:
    Measurement.objects.filter(job=ended(submit())).delete()
    assert submit().earlier_run == earlier.id


def test_only_so_much_is_inherited_of_so_many_runs(
    earlier: Job, submit: SubmitJob, django_assert_max_num_queries: Any
) -> None:
    Measurement.objects.bulk_create(
        Measurement(
            job=earlier, workers=n, global_batch_size=512, steps=9, step_seconds=1.0, gpu_type="a"
        )
        for n in range(1, 2 * MOST_INHERITED)
    )
    job = submit()
    assert len(known_of(job)) == MOST_INHERITED
    Measurement.objects.filter(job=ended(job)).delete()
    for _ in range(MOST_RUNS - 1):
        Measurement.objects.filter(job=ended(submit())).delete()
    assert submit().earlier_run == ""
