"""What may a job reach? What its team may, where its host can keep it to that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from pytest_django import Settings
from rest_framework.test import APIClient
from tenancy.models import Team
from tenancy.models.reachable import check_listed

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
        (("isolated", "listed", "egress"), "listed", "listed"),
        (("egress", "isolated", "listed"), "listed", "listed"),
        (("isolated", "listed", "egress"), "listed", "isolated"),
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
        (
            ("isolated", "listed", "egress"),
            "listed",
            "is not for team vision: its jobs reach nobody",
        ),
        (("egress",), "isolated", "is not possible here: jobs are processes"),
        (("egress",), "listed", "is not possible here: jobs are processes"),
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


@pytest.mark.parametrize(("of_team", "wanted"), [("egress", "listed"), ("listed", "egress")])
def test_each_way_out_is_for_teams_that_have_this_one(
    api: APIClient, giving: Giving, of_team: str, wanted: str
) -> None:
    giving("isolated", "listed", "egress")
    Team.objects.update(network=of_team)
    (problem,) = submitted(api, wanted).json()["details"]
    assert problem["problem"] == (
        f"is not for team vision: its jobs may ask for `network: {of_team}`"
    )


def test_admins_list_hosts_with_ports(api: APIClient, admin_user: User, vision: Team) -> None:
    admin_api = APIClient()
    admin_api.force_authenticate(admin_user)

    def change(**body: object) -> Any:
        return admin_api.patch("/api/v1/teams/vision", body, format="json")

    (refused,) = change(network="listed").json()["details"]
    assert (refused["field"], refused["problem"]) == ("reachable", "List a host, or use isolated.")
    hosts = ["pypi.org:443", "*.example.com:8443", "10.2.0.7:9000", "[2001:db8::1]:443"]
    assert change(network="listed", reachable=hosts).status_code == 200
    told = api.get("/api/v1/teams/vision").json()
    assert (told["network"], told["reachable"]) == ("listed", hosts)
    assert change(reachable=[]).status_code == 400
    assert change(network="isolated", reachable=[]).json()["reachable"] == []


@pytest.mark.parametrize(
    "entry",
    [
        *("", "pypi.org", "pypi.org:", ":443", "pypi.org:0", "pypi.org:65536", "pypi.org:0443"),
        *("PyPI.org:443", "pypi.org.:443", "*:443", "*.org:443", "a.*.org:443", "py pi.org:443"),
        *("localhost:80", "127.0.0.1:80", "0.0.0.0:80", "169.254.169.254:80", "[::1]:80"),
        *("10.0.0:80", "010.0.0.1:80", "[2001:DB8::1]:443", "2001:db8::1:443", "-a.org:443"),
        *("https://pypi.org:443", "pypi.org:443/simple", "a,b.org:443", "x" * 254 + ":1", "a:٤"),
    ],
)
def test_what_is_no_host_with_a_port_is_not_listed(entry: str) -> None:
    with pytest.raises(ValidationError):
        check_listed([entry])


@pytest.mark.parametrize("listed", [None, "pypi.org:443", [1], ["a:1"] * 2, ["a:1"] * 101])
def test_a_list_is_one_of_texts_each_once(listed: object) -> None:
    with pytest.raises(ValidationError):
        check_listed(listed)


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
