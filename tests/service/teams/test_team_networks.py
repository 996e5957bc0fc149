"""What may a job reach? What its team may, where its host can keep it to that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from pytest_django import Settings
from rest_framework.test import APIClient
from tenancy.models import Team

from jobs.models import Job
from tests.service.conftest import spec

Giving = Callable[..., None]


@dataclass
class Host:
    """All that a kind of worker hosts is asked for here."""

    kind: Any
    networks: tuple[str, ...]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.kind, name)


@pytest.fixture
def giving(settings: Settings) -> Giving:
    """Have the host give these networks, the usual one first."""

    def give(*networks: str) -> None:
        known: Any = django_settings.CONCERTINA
        settings.CONCERTINA = replace(known, worker_host=Host(known.worker_host, networks))

    return give


def submitted(api: APIClient, network: str | None) -> Any:
    return api.post("/api/v1/jobs", spec(network=network), format="json")


@pytest.mark.parametrize(
    ("networks", "of_team", "network"),
    [
        (("isolated", "egress"), "isolated", None),
        (("isolated", "egress"), "isolated", "isolated"),
        (("isolated", "egress"), "egress", "egress"),
        (("egress", "isolated"), "isolated", "egress"),
        (("egress", "isolated"), "egress", "isolated"),
        (("egress",), "isolated", None),
        (("egress",), "isolated", "egress"),
    ],
)
def test_a_job_may_have_what_all_have_and_what_its_team_may(
    api: APIClient, giving: Giving, networks: tuple[str, ...], of_team: str, network: str | None
) -> None:
    giving(*networks)
    Team.objects.update(network=of_team)
    assert submitted(api, network).status_code == 201
    assert Job.objects.get().resolved_spec["network"] == network


@pytest.mark.parametrize(
    ("networks", "network", "said"),
    [
        (("isolated", "egress"), "egress", "is not for team vision: its jobs reach nobody"),
        (("egress",), "isolated", "is not possible here: jobs are processes"),
        (("isolated", "egress"), "everything", "is none of the allowed words"),
    ],
)
def test_what_it_may_not_or_cannot_have_is_refused(
    api: APIClient, giving: Giving, networks: tuple[str, ...], network: str, said: str
) -> None:
    giving(*networks)
    answer = submitted(api, network)
    assert answer.status_code == 422, answer.json()
    (problem,) = answer.json()["details"]
    assert (problem["field"], said in problem["problem"]) == ("network", True), problem
    assert problem["remedy"]


def test_admins_alone_let_a_team_out(api: APIClient, admin_user: User, vision: Team) -> None:
    admin_api = APIClient()
    admin_api.force_authenticate(admin_user)

    def change(who: APIClient, network: object) -> Any:
        return who.patch("/api/v1/teams/vision", {"network": network}, format="json")

    assert api.get("/api/v1/teams/vision").json()["network"] == "isolated"
    assert change(api, "egress").status_code == 403
    for wrong in ("all", None, 1, ["egress"]):
        assert change(admin_api, wrong).status_code == 400, wrong
    assert change(admin_api, "egress").json()["network"] == "egress"
    assert api.get("/api/v1/teams/vision").json()["network"] == "egress"
    assert Team.objects.get(pk=vision.pk).max_queued_jobs == 1000
