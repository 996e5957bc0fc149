"""Is GET /jobs/{id} as promised?"""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from jobs.lifecycle import JobState
from jobs.models import Job
from tests.service.conftest import SubmitJob, generation, run


def test_a_running_job_tells_its_numbers(api: APIClient, job: Job) -> None:
    run(job, workers=3, batch=96)
    generation(job, 1, workers=2, global_batch_size=64, ended_at=job.submitted_at)
    generation(job, 2, workers=3, global_batch_size=96, stall_seconds=0.25)
    Job.objects.filter(pk=job.pk).update(
        state=JobState.RUNNING, samples=500, total_samples=2000, epoch=1.0, samples_per_second=100.0
    )
    told = api.get(f"/api/v1/jobs/{job.id}").json()
    assert told["workers"] == 3
    assert told["workers_desired"] == 3
    assert told["global_batch_size"] == 96
    assert told["progress"] == 0.25
    assert told["total_epochs"] == 4
    assert told["eta_seconds"] == 15.0
    assert told["longest_stall_seconds"] == 0.25
    assert told["completion_seconds"] is None
    assert told["resolved_spec"]["elastic"]["max_workers"] == 4


@pytest.mark.parametrize("samples", [2000, 2100])
def test_of_a_job_that_trains_on_after_its_declared_length_nobody_knows_what_is_left(
    api: APIClient, job: Job, samples: int
) -> None:
    Job.objects.filter(pk=job.pk).update(
        state="running", samples=samples, total_samples=2000, samples_per_second=100
    )
    assert api.get(f"/api/v1/jobs/{job.id}").json()["eta_seconds"] is None


def test_a_waiting_job_has_no_workers_and_unknown_progress(api: APIClient, job: Job) -> None:
    told = api.get(f"/api/v1/jobs/{job.id}").json()
    assert (told["workers"], told["workers_desired"]) == (0, 0)
    assert told["progress"] is told["eta_seconds"] is told["total_epochs"] is None


def test_the_batch_limit_is_the_smaller_of_what_is_declared_and_found(
    api: APIClient, submit: SubmitJob
) -> None:
    job = submit(batch={"global_batch_size": 512, "per_gpu_batch_size": {"max": 64}})
    for found, told in ({}, 64), ({"slot": 128}, 64), ({"slot": 16, "h100": 1}, 16):
        Job.objects.filter(pk=job.pk).update(batch_limits=found)
        assert api.get(f"/api/v1/jobs/{job.id}").json()["batch_limit"] == told


def test_a_range_of_batches_is_told_as_the_noise_sees_it_once_that_is_measured(
    api: APIClient, submit: SubmitJob
) -> None:
    job = submit(batch={"global_batch_size": {"base": 32, "max": 128}})

    def told(noise_scale: float | None) -> Any:
        Job.objects.filter(pk=job.pk).update(noise_scale=noise_scale)
        return api.get(f"/api/v1/jobs/{job.id}").json()["batch_worth"]

    assert told(None) is None
    narrow = told(32.0)
    assert narrow.pop("message").startswith("At 128 each sample is worth 0.4 of one at 32, by a ")
    assert narrow == {
        "base": 32, "largest": 128, "of_largest": 0.4, "supported": 96, "reaches_too_far": True,
    }  # fmt: skip
    assert told(1000.0)["reaches_too_far"] is False


def test_nothing_is_told_of_a_batch_that_is_fixed(api: APIClient, submit: SubmitJob) -> None:
    job = submit(batch={"global_batch_size": 512})
    Job.objects.filter(pk=job.pk).update(noise_scale=1.0)
    assert api.get(f"/api/v1/jobs/{job.id}").json()["batch_worth"] is None


@pytest.mark.parametrize("path", ["", "/events", "/generations", "/workers", "/metrics", "/logs",
                                  "/explain"])  # fmt: skip
def test_a_foreign_job_looks_like_one_that_does_not_exist(
    foreign_api: APIClient, job: Job, path: str
) -> None:
    foreign = foreign_api.get(f"/api/v1/jobs/{job.id}{path}")
    missing = foreign_api.get(f"/api/v1/jobs/zzzzzzzzzz{path}")
    assert foreign.status_code == missing.status_code == 404
    assert foreign.json() == missing.json()
    assert foreign.json()["code"] == "not_found"


@pytest.mark.parametrize("path", ["", "/events", "/generations", "/workers", "/metrics", "/logs",
                                  "/explain"])  # fmt: skip
def test_reading_needs_a_token_and_the_right_method(api: APIClient, job: Job, path: str) -> None:
    assert APIClient().get(f"/api/v1/jobs/{job.id}{path}").status_code == 401
    answer = api.put(f"/api/v1/jobs/{job.id}{path}")
    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")


@pytest.mark.parametrize("job_id", ["A", "../x", "é", "a" * 60])
def test_what_can_be_no_job_id_is_not_found(api: APIClient, job_id: str) -> None:
    answer = api.get(f"/api/v1/jobs/{job_id}")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
