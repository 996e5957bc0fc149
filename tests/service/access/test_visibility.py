"""Whose numbers does a caller see? Every team's by default; its own where teams are kept apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import pytest
from cluster.models import Node, Pool, UtilisationSample
from cluster.variables import BadEnvironment, EnvironmentVariables
from control_plane.configuration import team_visibility
from control_plane.configuration.team_visibility import TeamVisibility
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient
from tenancy.models import Team

from jobs.models import Job
from tests.service.conftest import run
from tests.service.results.test_outputs import content
from tests.service.test_access_matrix import operations
from tests.service.world import World, client, people, world

__all__ = ("people", "world")  # fixtures

OF_VISION = ["teams/vision", "teams/vision/quotas", "teams/vision/quotas/default",
             "teams/vision/standing"]  # fmt: skip


@pytest.fixture
def apart(settings: Settings) -> None:
    """Teams do not see each other's numbers."""
    settings.CONCERTINA = replace(django_settings.CONCERTINA, teams_see=TeamVisibility.OWN)


@pytest.fixture
def busy(job: Job, pool: Pool, vision: Team, language: Team) -> None:
    """Team vision holds two GPUs, and both teams did a moment ago."""
    run(job, workers=2)
    now = timezone.now()
    for team, gpus in ((vision, 2), (language, 1)):
        UtilisationSample.objects.create(pool=pool, team=team, at=now, gpus=gpus, guaranteed_gpus=4)


def read(client: APIClient, path: str) -> str:
    answer = client.get(f"/api/v1/{path}")
    assert answer.status_code == 200, path
    return answer.content.decode()


SHARED = ["teams", "pools", "cluster/utilisation"]


def test_by_default_every_team_sees_the_numbers_of_all(foreign_api: APIClient, busy: None) -> None:
    for path in (*OF_VISION, *SHARED):
        told = read(foreign_api, path)
        assert "vision" in told or "default" in told


def test_teams_that_are_kept_apart_see_their_own(
    api: APIClient, foreign_api: APIClient, busy: None, apart: None
) -> None:
    for path in OF_VISION:
        read(api, path)
        hidden, missing = foreign_api.get(f"/api/v1/{path}"), foreign_api.get("/api/v1/teams/no")
        assert (hidden.status_code, hidden.content) == (404, missing.content)
    for path in SHARED:
        assert "vision" not in read(foreign_api, path)
        assert "vision" in read(api, path)


def test_what_others_hold_is_summed_up(foreign_api: APIClient, busy: None, apart: None) -> None:
    used = foreign_api.get("/api/v1/cluster/utilisation").json()["samples"][-1]["used"]
    assert used == {"other teams": 2, "language": 1}
    nodes = foreign_api.get("/api/v1/pools").json()["items"][0]["nodes"]
    assert [claim["team"] for claim in nodes[0]["claims"]] == ["other teams"] * 2


def test_admins_see_all(admin_user: User, busy: None, apart: None) -> None:
    admin = APIClient()
    admin.force_login(admin_user)
    for path in (*OF_VISION, *SHARED):
        read(admin, path)
    assert len(admin.get("/api/v1/teams").json()["items"]) == 2


STREAMS: Final = {"follow_events", "follow_reads"}  # which send what other reads here answer


def reads() -> Iterator[tuple[str, str]]:
    """Every operation that reads, with its address."""
    for name, (method, path) in operations().items():
        if method == "get" and path.startswith("/api/v1/") and name not in STREAMS:
            yield name, path


TELL_OF_ALL: Final = {"get_schema", "get_docs"}  # of the API
OF_ALL_TEAMS: Final = {
    *("list_teams", "get_team", "list_quotas", "get_quota", "get_standing"),
    "get_utilisation",
}


@pytest.mark.parametrize(
    ("seen", "telling"),
    [
        (TeamVisibility.EVERYBODY, {*OF_ALL_TEAMS, "list_pools"}),
        (TeamVisibility.NUMBERS, OF_ALL_TEAMS),
        (TeamVisibility.OWN, set()),
    ],
)
@pytest.mark.parametrize("sender", ["foreign", "teamless"])
def test_no_read_tells_more_of_a_foreign_team_than_the_setting_says(
    world: World, settings: Settings, sender: str, seen: TeamVisibility, telling: set[str]
) -> None:
    settings.CONCERTINA = replace(django_settings.CONCERTINA, teams_see=seen)
    pool, vision = Pool.objects.get(), Team.objects.get(name="vision")
    UtilisationSample.objects.create(
        pool=pool, team=vision, at=timezone.now(), gpus=2, guaranteed_gpus=4
    )
    looking, found = client(sender, world), set()
    for name, path in reads():
        answer = looking.get(world.address(path, operation=name))
        said = content(answer) if answer.streaming else answer.content
        is_about_it = "/teams/{name}" in path or b"vision" in said
        if answer.status_code < 300 and name not in TELL_OF_ALL and is_about_it:
            found.add(name)
    assert found == telling


def test_the_former_variable_still_keeps_teams_apart() -> None:
    def read(**said: str) -> str:
        return team_visibility.read(EnvironmentVariables(said))

    assert read() == "everybody"
    assert read(CONCERTINA_TEAMS_SEE_EACH_OTHER="false") == "own"
    apart = {"CONCERTINA_TEAMS_SEE_EACH_OTHER": "false", "CONCERTINA_TEAMS_SEE": "numbers"}
    assert read(**apart) == "numbers"
    with pytest.raises(BadEnvironment, match="use everybody or numbers or own"):
        read(CONCERTINA_TEAMS_SEE="nobody")


@pytest.mark.parametrize("path", ["nodes", "pools"])
def test_only_admins_are_told_why_a_node_is_silent(
    api: APIClient, admin_user: User, pool: Pool, path: str
) -> None:
    admin = APIClient()
    admin.force_login(admin_user)
    reason = "ssh://root@10.0.0.7: refused"
    Node.objects.filter(name="node-1").update(silent_since=timezone.now(), silent_reason=reason)
    assert reason in read(admin, path)
    told = read(api, path)
    assert "10.0.0.7" not in told
    assert "admins are told why" in told
