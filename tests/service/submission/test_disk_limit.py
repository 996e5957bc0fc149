"""How much disk may a job ask for, and who is told how much it takes?"""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.conf import settings as django_settings
from pytest_django import Settings
from rest_framework.test import APIClient

from jobs.admission.disk_limits import DiskLimits
from jobs.models import Job
from tests.service.conftest import SubmitJob, spec

GIB = 1 << 30


@pytest.fixture(autouse=True)
def limits(settings: Settings) -> None:
    """An admin lets a job have 20 GiB at most."""
    told = DiskLimits(usual_bytes=5 * GIB, most_bytes=20 * GIB)
    settings.CONCERTINA = replace(django_settings.CONCERTINA, disk_limits=told)


def test_more_than_an_admin_allows_is_refused_with_the_number(api: APIClient) -> None:
    def problems(disk: str) -> list[dict[str, str]]:
        asked = spec(resources={"disk_per_job": disk})
        answer = api.post("/api/v1/jobs:validate", asked, format="json")
        found: list[dict[str, str]] = answer.json()["problems"]
        return found

    assert problems("20GiB") == []
    (problem,) = problems("21GiB")
    assert (problem["field"], problem["value"]) == ("resources.disk_per_job", "21GiB")
    assert problem["problem"] == "is more than 20GiB, the most that a job may write here"
    assert "CONCERTINA_MOST_JOB_DISK_GB" in problem["remedy"]


def test_what_a_job_takes_is_told_once_it_is_known(api: APIClient, submit: SubmitJob) -> None:
    job = submit()

    def told() -> tuple[int | None, int | None]:
        answer = api.get(f"/api/v1/jobs/{job.id}").json()
        return answer["disk_bytes"], answer["disk_files"]

    assert told() == (None, None)
    Job.objects.filter(pk=job.id).update(disk_bytes=3 * GIB, disk_files=7)
    assert told() == (3 * GIB, 7)


@pytest.mark.parametrize(
    ("asked", "limit"),
    [
        pytest.param(None, 5, id="a job that says nothing"),
        pytest.param(2 * GIB, 2, id="one that asks for less"),
        pytest.param(20 * GIB, 20, id="one that asks for the most"),
        pytest.param(21 * GIB, 20, id="one that asked when more was allowed"),
    ],
)
def test_the_limit_of_a_job(asked: int | None, limit: int) -> None:
    assert django_settings.CONCERTINA.disk_limits.bytes_of(asked) == limit * GIB
