"""Does GET /jobs:compare show a few jobs side by side, at a cost that does not grow with them?"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from jobs.models import Job
from tests.service.conftest import SubmitJob, generation
from tests.service.jobs.test_curves import trained


def compared(api: APIClient, *jobs: str, **query: Any) -> dict[str, Any]:
    answer = api.get("/api/v1/jobs:compare", {"jobs": ",".join(jobs), **query})
    assert answer.status_code == 200, answer.json()
    told: dict[str, Any] = answer.json()
    return told


def losing(job: Job, seconds: int, **values: float) -> None:
    trained(job, seconds, until=timezone.now())
    Job.objects.filter(pk=job.pk).update(values={"loss": 1.0, **values})


def test_each_has_a_curve_over_steps_samples_time_and_gpu_hours(
    api: APIClient, submit: SubmitJob
) -> None:
    first, second = submit(name="first"), submit(name="second")
    losing(first, 5)
    losing(second, 3, accuracy=0.5)
    first.refresh_from_db()
    assert first.started_at is not None
    generation(first, 1, workers=2, began_at=first.started_at)
    told = compared(api, second.id, first.id)
    assert [job["name"] for job in told["items"]] == ["second", "first"]
    assert (told["metrics"], told["metric"], told["missing"]) == (["loss", "accuracy"], "loss", [])
    curve = told["items"][1]["curve"]
    assert curve["values"] == [0, 1, 2, 3, 4]
    assert curve["steps"] == [1, 2, 3, 4, 5]
    assert curve["samples"] == [8, 16, 24, 32, 40]
    assert curve["seconds"] == pytest.approx([0, 1, 2, 3, 4], abs=1e-3)
    assert curve["gpu_hours"] == pytest.approx([n * 2 / 3600 for n in range(5)], abs=1e-6)
    assert (curve["lowest"], curve["highest"]) == (0, 4)
    assert told["items"][0]["curve"]["gpu_hours"] == [None, None, None]  # no generation is known


def test_gpu_hours_add_up_over_generations(api: APIClient, job: Job) -> None:
    losing(job, 5)
    job.refresh_from_db()
    assert job.started_at is not None
    start = job.started_at - timedelta(hours=3)
    end = job.started_at - timedelta(hours=1)
    generation(job, 0, workers=4, began_at=start, ended_at=end)
    generation(job, 1, workers=1, began_at=job.started_at)
    assert compared(api, job.id)["items"][0]["curve"]["gpu_hours"][0] == pytest.approx(8)


def test_curves_are_thinned_and_their_bounds_are_not(api: APIClient, job: Job) -> None:
    losing(job, 30)
    curve = compared(api, job.id, points=7)["items"][0]["curve"]
    assert len(curve["values"]) == 7
    assert (curve["values"][-1], curve["lowest"], curve["highest"]) == (29, 0, 29)


def test_what_is_measured_of_every_script_has_curves_too(api: APIClient, job: Job) -> None:
    losing(job, 4)
    told = compared(api, job.id, measure="samples_per_second")
    assert (told["metric"], told["items"][0]["curve"]["values"]) == ("", [0, 1, 2, 3])
    assert compared(api, job.id, metric="unknown")["items"][0]["curve"]["values"] == []


def test_a_job_of_another_team_is_named_as_one_that_does_not_exist(
    api: APIClient, foreign_api: APIClient, job: Job
) -> None:
    assert compared(foreign_api, job.id, "nothing")["missing"] == [job.id, "nothing"]
    told = compared(api, "nothing", job.id, job.id)
    assert (told["missing"], [one["id"] for one in told["items"]]) == (["nothing"], [job.id])


def test_what_was_changed_beside_the_commit_is_not_sent(api: APIClient, job: Job) -> None:
    git = {"commit": "3f2a91c", "branch": "main", "is_changed": True, "diff": "very long"}
    spec = job.resolved_spec | {"code": {"digest": "a" * 64, "git": git}}
    Job.objects.filter(pk=job.pk).update(resolved_spec=spec)
    told = compared(api, job.id)["items"][0]["resolved_spec"]["code"]
    assert told["git"] == {"commit": "3f2a91c", "branch": "main", "is_changed": True}


def test_ten_take_as_many_statements_as_one(api: APIClient, submit: SubmitJob) -> None:
    jobs = [submit(name=f"job-{number}") for number in range(10)]
    for job in jobs:
        losing(job, 3)
    with CaptureQueriesContext(connection) as one:
        compared(api, jobs[0].id)
    with CaptureQueriesContext(connection) as many:
        assert len(compared(api, *(job.id for job in jobs))["items"]) == 10
    assert len(many) == len(one)


@pytest.mark.parametrize(
    ("query", "field", "says"),
    [
        ({}, "jobs", "required"),
        ({"jobs": ","}, "jobs", "is not the id of a job"),
        ({"jobs": "a,B-"}, "jobs", "'B-' is not the id of a job"),
        ({"jobs": ",".join(f"j{n}" for n in range(11))}, "jobs", "at most 10"),
        ({"jobs": "a", "measure": "loss"}, "measure", "loss"),
        ({"jobs": "a", "points": 501}, "points", "500"),
    ],
)
def test_a_bad_parameter_of_a_comparison_is_named(
    api: APIClient, query: dict[str, Any], field: str, says: str
) -> None:
    answer = api.get("/api/v1/jobs:compare", query)
    assert (answer.status_code, answer.json()["details"][0]["field"]) == (400, field)
    assert says in str(answer.json())
