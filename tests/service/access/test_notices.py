"""Is everybody told who signs in where jobs own the service?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from cluster.process_host.kind import ProcessKind
from cluster.variables import EnvironmentVariables
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

from tests.service.conftest import in_docker


@pytest.fixture
def _jobs_are_trusted(settings: Any) -> None:
    kind = ProcessKind.read(EnvironmentVariables({"CONCERTINA_TEAM_USERS": "off"}), host_id="test")
    settings.CONCERTINA = replace(settings.CONCERTINA, worker_host=kind)


@pytest.mark.usefixtures("_jobs_are_trusted")
def test_a_token_and_a_person_are_told_that_jobs_own_the_service(api: APIClient) -> None:
    (told,) = api.get("/api/v1/notices").json()["items"]
    assert "whoever may submit one can read every team's secrets" in told
    assert "CONCERTINA_TEAM_USERS is off" in told
    User.objects.create_user("ada", password="correct horse")
    body = {"username": "ada", "password": "correct horse"}
    signed_in = Client().post("/api/v1/session", body, content_type="application/json")
    assert signed_in.json()["notices"] == [told]


def test_nobody_is_told_anything_where_jobs_have_containers(api: APIClient, settings: Any) -> None:
    in_docker(settings)
    assert api.get("/api/v1/notices").json() == {"items": []}
