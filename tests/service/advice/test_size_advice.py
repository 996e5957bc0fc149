"""Is somebody who asks told how many workers a job needed, from what was measured while it ran?"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from jobs.models import Generation, Job, Measurement
from tests.service.conftest import SubmitJob

pytestmark = pytest.mark.django_db
BEGAN = timezone.now() - timedelta(hours=10)


@pytest.fixture
def ran(submit: SubmitJob) -> Job:
    """A job that trained an hour with each of 1, 2 and 4 workers, and six with 8."""
    job = submit(name="digits", elastic={"min_workers": 1, "max_workers": 8})
    return trained(job, {1: 1.0, 2: 0.52, 4: 0.29, 8: 0.27})


def trained(job: Job, step_seconds: Mapping[int, float]) -> Job:
    """Have it trained an hour with each of these workers, or six with 8."""
    at = BEGAN
    for number, (workers, seconds) in enumerate(step_seconds.items(), start=1):
        until = at + timedelta(hours=6 if workers == 8 else 1)
        Generation.objects.create(
            job=job,
            number=number,
            attempt=1,
            revision=number,
            workers=workers,
            worker_ids=[],
            global_batch_size=64,
            reason="rescaled",
            began_at=at,
            ended_at=until,
        )
        Measurement.objects.create(
            job=job,
            gpu_type=job.pool.gpu_type,
            workers=workers,
            global_batch_size=64,
            steps=500,
            step_seconds=seconds,
        )
        at = until
    Job.objects.filter(pk=job.pk).update(state="completed", finished_at=at)
    return job


def advice(client: APIClient, job: Job) -> Any:
    return client.get(f"/api/v1/jobs/{job.pk}/advice")


def test_it_tells_what_each_size_was_worth_and_suggests_a_range(api: APIClient, ran: Job) -> None:
    found = advice(api, ran).json()
    assert (found["verdict"], found["knee"]) == ("fewer", 4)
    measured = {one["workers"]: one for one in found["sizes"] if one["samples_per_second"]}
    assert list(measured) == [1, 2, 4, 8]
    assert [one["seconds"] for one in measured.values()] == [3600, 3600, 3600, 6 * 3600]
    assert measured[2]["efficiency"] == pytest.approx(1 / 0.52 / 2)
    assert found["gpu_seconds"] == 3600 * (1 + 2 + 4 + 48)
    assert found["gpu_seconds_below_half"] == 48 * 3600
    suggested = found["suggested"]
    assert (suggested["min_workers"], suggested["max_workers"]) == (1, 4)
    assert suggested["lost_seconds"] == pytest.approx(6 * 3600 * (0.29 / 0.27 - 1))
    assert found["message"].startswith("Beyond 4 workers it wastes ")
    assert "26.7 min longer" in found["message"]


@pytest.mark.parametrize(
    ("elastic", "measured", "suggested"),
    [
        (
            {"allowed_workers": [1, 2, 4, 8]},
            {1: 1, 2: 0.52, 4: 0.29, 8: 0.27},
            (4, [1, 2, 4], None),
        ),
        ({"allowed_workers": [1, 8]}, {1: 1, 8: 0.27}, (1, [1], None)),
        ({"worker_step": 7}, {1: 1, 8: 0.27}, (1, None, None)),
        ({"requested_workers": 8}, {1: 1, 2: 0.52, 4: 0.29, 8: 0.27}, (4, None, 4)),
    ],
)
def test_the_suggested_range_is_one_of_the_spec_that_can_be_run_again(
    api: APIClient,
    submit: SubmitJob,
    elastic: dict[str, Any],
    measured: dict[int, float],
    suggested: tuple[int, list[int] | None, int | None],
) -> None:
    job = trained(submit(elastic={"min_workers": 1, "max_workers": 8, **elastic}), measured)
    found = advice(api, job).json()["suggested"]
    names = ("max_workers", "allowed_workers", "requested_workers")
    assert tuple(found[name] for name in names) == suggested
    changes = {name: found[name] for name in ("min_workers", *names)}
    again = api.post(f"/api/v1/jobs/{job.pk}/rerun", {"elastic": changes}, format="json")
    assert again.status_code == 201, again.json()


def test_between_sizes_that_were_measured_a_model_tells_the_curve(api: APIClient, ran: Job) -> None:
    sizes = {one["workers"]: one for one in advice(api, ran).json()["sizes"]}
    assert list(sizes) == [1, 2, 3, 4, 5, 6, 7, 8]
    three = sizes[3]
    assert (three["samples_per_second"], three["seconds"]) == (None, 0)
    assert 64 / 0.52 < three["predicted_samples_per_second"] < 64 / 0.27
    assert three["relative_error"] > 0


def test_with_one_size_only_it_says_that_it_does_not_know(api: APIClient, ran: Job) -> None:
    Measurement.objects.exclude(workers=8).delete()
    found = advice(api, ran).json()
    assert (found["verdict"], found["suggested"], found["knee"]) == ("unknown", None, None)
    assert "with 8 workers only" in found["message"]


def test_a_job_that_never_ran_is_told_so(api: APIClient, submit: SubmitJob) -> None:
    found = advice(api, submit()).json()
    assert (found["verdict"], found["sizes"]) == ("unknown", [])


def test_of_a_job_that_runs_the_time_until_now_counts(api: APIClient, ran: Job) -> None:
    Generation.objects.filter(workers=8).update(ended_at=None)
    Job.objects.filter(pk=ran.pk).update(state="running", finished_at=None)
    sizes = {one["workers"]: one for one in advice(api, ran).json()["sizes"]}
    assert 6.9 * 3600 < sizes[8]["seconds"] < 7.5 * 3600


def test_what_it_stood_still_and_other_gpus_do_not_count(api: APIClient, ran: Job) -> None:
    Generation.objects.filter(workers=2).update(stall_seconds=600)
    Measurement.objects.create(
        job=ran, gpu_type="other", workers=2, global_batch_size=64, steps=900, step_seconds=9
    )
    sizes = {one["workers"]: one for one in advice(api, ran).json()["sizes"]}
    assert sizes[2]["seconds"] == 3000
    assert sizes[2]["samples_per_second"] == pytest.approx(64 / 0.52)


def test_it_takes_as_many_statements_however_often_it_was_resized(api: APIClient, ran: Job) -> None:
    advice(api, ran)
    with CaptureQueriesContext(connection) as few:
        advice(api, ran)
    Generation.objects.bulk_create(
        Generation(
            job=ran,
            number=number,
            attempt=1,
            revision=number,
            workers=1 + number % 8,
            worker_ids=[],
            global_batch_size=64,
            reason="rescaled",
            began_at=BEGAN,
            ended_at=BEGAN,
        )
        for number in range(10, 300)
    )
    with CaptureQueriesContext(connection) as many:
        advice(api, ran)
    assert len(many) == len(few) <= 8


def test_other_teams_jobs_are_not_there(foreign_api: APIClient, ran: Job) -> None:
    assert advice(foreign_api, ran).status_code == 404
