"""Can all points of a curve be had as a file, whole and of one moment?"""

from __future__ import annotations

import csv
import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from jobs.commands.removal import rollups
from jobs.models import Job, MetricPoint
from jobs.queries.curves import tables
from tests.service.conftest import generation
from tests.service.results.test_outputs import content

LATELY = timezone.now().replace(second=0, microsecond=0) - timedelta(hours=2)


def logged(job: Job, *, seconds: int, **values: Any) -> None:
    """Make a point for each second from two hours ago on."""
    Job.objects.filter(pk=job.pk).update(started_at=LATELY, submitted_at=LATELY)
    MetricPoint.objects.bulk_create(
        MetricPoint(
            job=job,
            at=LATELY + timedelta(seconds=second),
            generation=1,
            step=second + 1,
            epoch=0.5,
            samples=8 * second,
            samples_per_second=0.1,
            step_seconds=1.0,
            compute_seconds=1.0,
            communication_seconds=0.0,
            learning_rate=1e-7,
            values={"loss": second / 3, **values},
        )
        for second in range(seconds)
    )


def table(api: APIClient, job: Job, **asked: str) -> Any:
    return api.get(f"/api/v1/jobs/{job.id}/metrics/table", asked)


def rows(api: APIClient, job: Job, **asked: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content(table(api, job, **asked)).decode())))


def points(api: APIClient, job: Job, **asked: str) -> list[dict[str, Any]]:
    document = json.loads(content(table(api, job, format="json", **asked)))
    return list(document["items"])


def test_a_table_has_all_points_and_a_column_for_each_name(api: APIClient, job: Job) -> None:
    generation(job, 1, workers=2)
    logged(job, seconds=6000, **{'a "name", of ours\n%s': 1.5})
    answer = table(api, job)
    assert len(content(answer).splitlines()) > 6000
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="digits-metrics.csv"'
    found = rows(api, job)
    assert len(found) == 6000  # a list has 5000 at most
    last = found[-1]
    assert last["at"] == f"{LATELY + timedelta(seconds=5999):%Y-%m-%dT%H:%M:%S}.000000Z"
    assert (last["step"], last["workers"], last["learning_rate"]) == ("6000", "2", "1e-07")
    assert float(last["values.loss"]) == 5999 / 3
    assert last['values.a "name", of ours\n%s'] == "1.5"


def test_as_json_it_is_the_list_of_points_with_a_line_for_each(api: APIClient, job: Job) -> None:
    logged(job, seconds=3, note=None, **{'\\u0001 "\\': 1.0})
    found = points(api, job)
    (listed,) = api.get(f"/api/v1/jobs/{job.id}/metrics", {"points": 1}).json()["items"]
    assert {**found[-1], "at": listed["at"]} == listed
    assert content(table(api, job, format="json")).count(b"\n") == 5


def test_a_job_without_points_has_an_empty_table(api: APIClient, job: Job) -> None:
    assert points(api, job) == []
    assert content(table(api, job)).decode().strip() == ",".join(tables.COLUMNS)


def test_a_table_may_be_of_a_stretch_of_time(api: APIClient, job: Job) -> None:
    logged(job, seconds=100)
    since, until = LATELY + timedelta(seconds=10), LATELY + timedelta(seconds=19)
    found = rows(api, job, since=since.isoformat(), until=until.isoformat())
    assert [row["step"] for row in found] == [str(step) for step in range(11, 21)]
    assert table(api, job, since="yesterday").status_code == 400
    assert table(api, job, format="xls").status_code == 400


def test_points_that_were_rolled_up_are_there_as_fine_as_they_are_kept(
    api: APIClient, job: Job
) -> None:
    logged(job, seconds=100)
    rollups.roll_up(timezone.now(), lambda: True)
    found = [int(row["step"]) for row in rows(api, job)]
    assert found == [*range(10, 91, 10), 99, 100]  # a live job's newest point stays


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_what_is_too_large_for_one_file_is_refused_with_what_to_ask_for(
    api: APIClient, job: Job, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged(job, seconds=2000)
    monkeypatch.setattr(tables, "MOST_BYTES", 10_000)
    answer = table(api, job, format=kind)
    assert (answer.status_code, answer.json()["code"]) == (400, "table_too_large")
    assert "since" in answer.json()["message"]


def test_too_many_names_are_refused_as_columns_and_told_as_documents(
    api: APIClient, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged(job, seconds=1, a=1.0, b=2.0)
    monkeypatch.setattr(tables, "MOST_NAMES", 2)
    assert table(api, job).json()["code"] == "table_too_large"
    assert points(api, job)[0]["values"] == {"loss": 0.0, "a": 1.0, "b": 2.0}
