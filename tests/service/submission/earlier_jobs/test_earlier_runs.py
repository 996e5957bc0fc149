"""Is a submitted range of batches compared with what an earlier run of the training measured?"""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from jobs.admission.earlier_runs import digest_of
from jobs.lifecycle import JobState
from jobs.models import Job
from jobs.spec.job_spec import JobSpec
from tests.service.conftest import SubmitJob, spec

WIDE = {"global_batch_size": {"base": 32, "max": 128}}


@pytest.fixture
def earlier(submit: SubmitJob) -> Job:
    """A run with another range that has completed, and measured a noise of 32 samples."""
    return ended(submit(batch={"global_batch_size": 32}), noise_scale=32.0)


def ended(job: Job, *, noise_scale: float | None, state: JobState = JobState.COMPLETED) -> Job:
    Job.objects.filter(pk=job.pk).update(
        state=state, noise_scale=noise_scale, first_noise_scale=noise_scale, is_measured=True
    )
    return job


def notes(api: APIClient, **changes: Any) -> list[str]:
    """What is said of the next job, by checking its spec."""
    sent = spec(**{"batch": WIDE, **changes})
    answer = api.post("/api/v1/jobs:validate", sent, format="json").json()
    assert answer["problems"] == []
    told: list[str] = answer["notes"]
    return told


def test_a_range_that_reaches_too_far_is_accepted_with_the_figure_of_the_earlier_run(
    api: APIClient, earlier: Job
) -> None:
    answer = api.post("/api/v1/jobs", spec(batch=WIDE), format="json")
    assert answer.status_code == 201
    (note,) = answer.json()["notes"]
    assert note.startswith(f"Job {earlier.id}, the last completed run of this training, measured")
    assert "at 128 each sample is worth 0.4 of one at 32" in note
    assert "up to 96 it is at least half" in note


def test_nothing_is_said_where_the_noise_supports_the_range(api: APIClient, earlier: Job) -> None:
    assert notes(api, batch={"global_batch_size": {"base": 32, "max": 96}}) == []
    assert notes(api, batch={"global_batch_size": {"base": 128, "min": 32, "max": 128}}) == []


def test_nothing_is_said_without_an_earlier_run(api: APIClient) -> None:
    assert notes(api) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"command": ["python", "train.py", "--width", "48"]},
        {"workdir": "/elsewhere"},
        {"env": {"MODEL": "large"}},
    ],
)
def test_another_training_is_no_comparison(
    api: APIClient, earlier: Job, changes: dict[str, Any]
) -> None:
    assert notes(api, **changes) == []


def test_a_run_of_another_image_is_no_comparison(api: APIClient, earlier: Job) -> None:
    of_image = {**earlier.resolved_spec, "image": "registry.example/digits:2"}
    training = digest_of(JobSpec.from_resolved(of_image))
    Job.objects.filter(pk=earlier.pk).update(training=training)
    assert notes(api) == []


def test_workers_and_priority_make_no_other_training(api: APIClient, earlier: Job) -> None:
    assert len(notes(api, elastic={"max_workers": 2}, priority=9)) == 1


@pytest.mark.parametrize("state", [JobState.FAILED, JobState.CANCELLED])
def test_a_run_that_did_not_complete_is_no_comparison(
    api: APIClient, earlier: Job, state: JobState
) -> None:
    ended(earlier, noise_scale=32.0, state=state)
    assert notes(api) == []


def test_the_newest_run_that_measured_noise_counts(
    api: APIClient, earlier: Job, submit: SubmitJob
) -> None:
    ended(submit(), noise_scale=None)
    assert earlier.id in notes(api)[0]
    ended(submit(), noise_scale=1e6)
    assert notes(api) == []


def test_runs_of_another_team_are_not_looked_at(foreign_api: APIClient, earlier: Job) -> None:
    assert notes(foreign_api) == []
