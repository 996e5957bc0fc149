"""May a job name a secret, is a named one kept, and is what is in it never seen?"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient
from tenancy.models import Secret, Team
from tenancy.secrets import team_secrets
from tenancy.secrets.values import SecretVariables, registry_login

from jobs.lifecycle import JobState
from jobs.models import Event, Job
from tests.service.conftest import SubmitJob, spec

URL = "/api/v1/teams/vision/secrets"
CANARY = "canary-9d3e"


@pytest.fixture(autouse=True)
def kept(vision: Team) -> None:
    """Two secrets with variables, of which one is common to both, and a login."""
    for name, variables in (("wandb", ("KEY", "MODE")), ("other", ("KEY",))):
        content = SecretVariables(values=dict.fromkeys(variables, CANARY))
        team_secrets.put(team=vision, name=name, content=content, by="tests")
    login = registry_login(registry="r.example.com", username=CANARY, password=CANARY)
    team_secrets.put(team=vision, name="images", content=login, by="tests")


def test_a_job_keeps_the_names_of_its_secrets_only(submit: SubmitJob) -> None:
    job = submit(secrets=["wandb"])
    assert job.resolved_spec["secrets"] == ["wandb"]


REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "an unknown one, with those there are": (
        {"secrets": ["wandb", "wanb"]},
        "secrets[1]",
        "is not a secret of team vision. Use one of: other, wandb.",
    ),
    "one twice": ({"secrets": ["wandb", "wandb"]}, "secrets", "names wandb twice"),
    "two that set the same": (
        {"secrets": ["wandb", "other"]},
        "secrets[1]",
        "sets KEY, which secret wandb sets as well",
    ),
    "one that sets what env sets": (
        {"secrets": ["wandb"], "env": {"MODE": "x"}},
        "secrets[0]",
        "sets MODE, which env sets as well",
    ),
    "a registry's login": ({"secrets": ["images"]}, "secrets[0]", "is the login of a registry"),
    "a value for a name": ({"secrets": {"KEY": "x"}}, "secrets", "is not a list"),
    "a number": ({"secrets": [1]}, "secrets[0]", "is not text"),
    "too many": ({"secrets": [f"s{n}" for n in range(21)]}, "secrets", "is too long"),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_a_job_cannot_name_is_refused_with_what_it_can(api: APIClient, sentence: str) -> None:
    changes, field, message = REFUSED[sentence]
    answer = api.post("/api/v1/jobs", spec(**changes), format="json")
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_spec")
    assert answer.json()["details"][0]["field"] == field
    assert message in answer.json()["message"]
    checked = api.post("/api/v1/jobs:validate", spec(**changes), format="json").json()
    assert checked["problems"] == answer.json()["details"]
    assert not Job.objects.exists()


def test_secrets_of_another_team_are_unknown(foreign_api: APIClient) -> None:
    answer = foreign_api.post("/api/v1/jobs", spec(secrets=["wandb"]), format="json")
    assert "is not a secret of team language. The team has none yet" in answer.json()["message"]


def test_a_secret_is_kept_while_a_live_job_names_it(api: APIClient, submit: SubmitJob) -> None:
    job = submit(secrets=["wandb"])
    shown = {one["name"]: one for one in api.get(URL).json()["items"]}
    assert shown["wandb"]["jobs"] == [{"id": job.id, "name": "digits"}]
    assert (shown["wandb"]["jobs_count"], shown["other"]["jobs_count"]) == (1, 0)
    refused = api.delete(f"{URL}/wandb")
    assert (refused.status_code, refused.json()["code"]) == (409, "secret_in_use")
    assert f"digits ({job.id})" in refused.json()["message"]
    assert api.delete(f"{URL}/wandb?force=perhaps").status_code == 400
    assert api.delete(f"{URL}/wandb?force=true").status_code == 204
    Job.objects.update(state=JobState.COMPLETED)
    submit(name="second", secrets=["other"])
    Job.objects.update(state=JobState.FAILED)
    assert api.delete(f"{URL}/other").status_code == 204


def addresses(job: Job) -> list[str]:
    """Every address of the API that can be read."""
    description = yaml.load(Path("docs/openapi.yaml").read_text(), Loader=yaml.CSafeLoader)
    known = {"name": "vision", "pool": "default", "job_id": job.id}
    read = [path for path, verbs in description["paths"].items() if "get" in verbs]
    read.remove("/api/v1/events/stream")  # sends what /events answers, for minutes
    return [path.format_map(defaultdict(lambda: "1", known)) for path in read]


def test_what_is_in_a_secret_is_nowhere_to_be_seen(
    api: APIClient, admin_user: User, submit: SubmitJob, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    admin, browser = APIClient(), Client()
    admin.force_login(admin_user)
    browser.force_login(admin_user)
    body = {"kind": "environment", "variables": {"KEY": CANARY}}
    with CaptureQueriesContext(connection) as queries:
        answers = [api.put(f"{URL}/{name}", body, format="json") for name in ("wandb", "9")]
        job = submit(secrets=["wandb"])
        paths = addresses(job)
        assert "/api/v1/teams/vision/secrets" in paths
        answers += [client.get(path) for client in (api, admin) for path in paths]
    secret = Secret.objects.get(name="wandb")
    places = ("", f"{secret.pk}/change/", f"{secret.pk}/history/", f"{secret.pk}/delete/")
    answers += [browser.get(f"/admin/tenancy/secret/{place}") for place in places]
    assert [answer.status_code for answer in answers[-4:]] == [200] * 4
    answers += [api.delete(f"{URL}/wandb"), api.delete(f"{URL}/wandb?force=true")]
    seen = [said(answer) for answer in answers]
    seen += [caplog.text, str(queries.captured_queries), str(list(Event.objects.values()))]
    seen += [repr(secret), str(vars(secret)), str(list(Job.objects.values()))]
    assert [text for text in seen if CANARY in text] == []


def said(answer: Any) -> str:
    """All of an answer, also of one that is read piece by piece."""
    if not answer.streaming:
        return str(answer.content.decode())

    async def read() -> bytes:
        return b"".join([piece async for piece in answer])

    return asyncio.run(read()).decode(errors="replace")


@pytest.mark.parametrize("verb", ["add/", "{id}/change/"])
def test_the_administration_sets_no_secrets(admin_user: User, verb: str) -> None:
    browser = Client()
    browser.force_login(admin_user)
    secret = Secret.objects.get(name="wandb")
    answer = browser.post(f"/admin/tenancy/secret/{verb.format(id=secret.pk)}", {"name": "x"})
    assert answer.status_code == 403
