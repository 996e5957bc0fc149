"""Can what a job wrote be data of other jobs, and does it stay as long as it is?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from pytest_django import Settings
from rest_framework.test import APIClient
from storage.data import sources
from storage.models import DataSource
from tenancy.models import Membership, Team

from jobs.lifecycle import JobState
from jobs.models import Job
from tests.service.conftest import SubmitJob

SOURCES = "/api/v1/data-sources"


@pytest.fixture
def lead(vision: Team) -> APIClient:
    person = User.objects.create_user("grace")
    Membership.objects.create(user=person, team=vision, role="lead")
    client = APIClient()
    client.force_login(person)
    return client


@pytest.fixture
def writer(submit: SubmitJob, settings: Settings, tmp_path: Path) -> Job:
    """A job that has ended and left outputs."""
    settings.CONCERTINA = replace(django_settings.CONCERTINA, state_dir=tmp_path)
    job = submit()
    (tmp_path / "jobs" / job.id / "outputs").mkdir(parents=True)
    Job.objects.update(state=JobState.COMPLETED)
    return job


def put(client: APIClient, job_id: str, **more: Any) -> Any:
    body = {"kind": "output", "job": job_id, "teams": ["vision"], **more}
    return client.put(f"{SOURCES}/cleaned", body, format="json")


def test_a_job_is_shown_what_another_wrote(
    lead: APIClient, writer: Job, vision: Team, submit: SubmitJob, tmp_path: Path
) -> None:
    answer = put(lead, writer.id)
    assert (answer.status_code, answer.json()["job"]) == (201, writer.id), answer.json()
    submit(data=[{"source": "cleaned"}])
    folder = sources.folder_for(
        vision,
        "cleaned",
        version="",
        is_writing=False,
        rules=django_settings.CONCERTINA.data_rules,
    )
    assert folder == tmp_path / "jobs" / writer.id / "outputs"


def test_it_stays_as_long_as_it_is_data(lead: APIClient, writer: Job, submit: SubmitJob) -> None:
    put(lead, writer.id)
    user = submit(data=[{"source": "cleaned"}])
    job = f"/api/v1/jobs/{writer.id}"
    deleted = lead.delete(job)
    assert (deleted.status_code, deleted.json()["code"]) == (409, "job_pinned")
    for answer in (lead.post(f"{job}/unpin"), lead.delete(f"{job}/outputs?path=a")):
        assert (answer.status_code, answer.json()["code"]) == (409, "result_is_data")
        assert "Data source cleaned" in answer.json()["message"]
    assert lead.delete(f"{SOURCES}/cleaned").json()["code"] == "source_in_use"
    Job.objects.filter(pk=user.pk).update(state=JobState.COMPLETED)
    assert lead.delete(f"{SOURCES}/cleaned").status_code == 204
    assert lead.post(f"{job}/unpin").status_code in {200, 204}


def test_whose_it_is_not_cannot_share_it(
    api: APIClient, foreign_api: APIClient, lead: APIClient, writer: Job, language: Team
) -> None:
    assert put(api, writer.id).status_code == 403
    person = User.objects.create_user("linus")
    Membership.objects.create(user=person, team=language, role="lead")
    other = APIClient()
    other.force_login(person)
    assert put(other, writer.id, teams=["language"]).status_code == 404
    assert put(lead, "../../etc").status_code == 404
    assert not DataSource.objects.exists()
    assert not Job.objects.get(pk=writer.pk).is_pinned


def test_a_job_without_outputs_is_none(lead: APIClient, writer: Job, submit: SubmitJob) -> None:
    other = submit()
    answer = put(lead, other.id)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_source")
    assert not Job.objects.get(pk=other.pk).is_pinned
