"""Is GET /jobs:sparklines as promised, and does it cost the same for many jobs?"""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from jobs.commands.removal import rollups
from jobs.models import Job
from jobs.queries.curves.sparklines import main_metric
from tests.service.conftest import SubmitJob
from tests.service.jobs.test_curves import trained


def sparklines(api: APIClient, **query: Any) -> dict[str, list[float]]:
    answer = api.get("/api/v1/jobs:sparklines", query)
    assert answer.status_code == 200, answer.json()
    return {item["job_id"]: item["values"] for item in answer.json()["items"]}


def losing(job: Job, seconds: int) -> None:
    """It trained for so many seconds until now, and logs a loss that counts them."""
    trained(job, seconds, until=timezone.now())
    Job.objects.filter(pk=job.pk).update(values={"accuracy": 0.5, "loss": float(seconds)})


def test_each_job_has_a_few_points_of_its_loss_that_end_with_the_newest(
    api: APIClient, submit: SubmitJob
) -> None:
    short, long, silent = submit(name="a"), submit(name="b"), submit(name="c")
    losing(short, 5)
    losing(long, 600)
    found = sparklines(api, points=20)
    assert found[short.id] == [0, 1, 2, 3, 4]
    assert found[silent.id] == []
    assert len(found[long.id]) == 20
    assert (found[long.id][-1], sorted(found[long.id])) == (599, found[long.id])


def test_of_a_long_job_old_times_have_as_many_points_as_new_ones(api: APIClient, job: Job) -> None:
    losing(job, 3 * 3600)
    rollups.roll_up(timezone.now(), lambda: True)
    values = sparklines(api, points=20)[job.id]
    assert len(values) == 20
    assert 3 <= sum(value < 3600 for value in values) <= 10


def test_what_is_no_number_is_left_out(api: APIClient, job: Job) -> None:
    losing(job, 4)
    with connection.cursor() as cursor:
        cursor.execute("""UPDATE jobs_metricpoint SET "values" = '{"loss": null}' WHERE step = 2""")
    assert sparklines(api)[job.id] == [0, 2, 3]


def test_many_jobs_take_as_many_statements_as_one(api: APIClient, submit: SubmitJob) -> None:
    losing(submit(name="first"), 5)
    with CaptureQueriesContext(connection) as one:
        sparklines(api)
    for number in range(5):
        losing(submit(name=f"job-{number}"), 5)
    with CaptureQueriesContext(connection) as many:
        assert len(sparklines(api)) == 6
    assert len(many) == len(one)


def test_jobs_of_other_teams_and_states_are_left_out(
    foreign_api: APIClient, api: APIClient, job: Job
) -> None:
    losing(job, 5)
    assert sparklines(foreign_api) == {}
    assert sparklines(api, state="running") == {}
    assert sparklines(api, state="queued", limit=1) == {job.id: [0, 1, 2, 3, 4]}


@pytest.mark.parametrize(
    ("query", "field"),
    [({"points": 1}, "points"), ({"limit": 101}, "limit"), ({"state": "x"}, "state")],
)
def test_a_bad_parameter_of_sparklines_is_named(
    api: APIClient, query: dict[str, Any], field: str
) -> None:
    answer = api.get("/api/v1/jobs:sparklines", query)
    assert (answer.status_code, answer.json()["details"][0]["field"]) == (400, field)


@pytest.mark.parametrize(
    ("values", "metric"),
    [
        ({}, ""),
        ({"loss": None, "name": "x", "done": True}, ""),
        ({"accuracy": 1, "b_loss": 2.0, "a_loss": 3.0}, "a_loss"),
        ({"accuracy": 1, "val_loss": 2.0, "loss": 3.0}, "loss"),
        ({"b": 1, "a": 2}, "a"),
    ],
)
def test_the_main_metric_is_a_loss_if_there_is_one(values: dict[str, Any], metric: str) -> None:
    assert main_metric(values) == metric
