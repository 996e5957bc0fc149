"""Are /teams/{name}/quotas and /teams/{name}/quotas/{pool} as promised?"""

from __future__ import annotations

from typing import Any

import pytest
from cluster.models import Pool
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from rest_framework.test import APIClient
from tenancy.models import Quota, Team

from tests.service.at_once import ask_at_once
from tests.service.conftest import make_team

URL = "/api/v1/teams/vision/quotas"
DEFAULT = f"{URL}/default"


@pytest.fixture
def admin_api(admin_user: User) -> APIClient:
    client = APIClient()
    client.force_login(admin_user)
    return client


def test_everybody_sees_quotas(foreign_api: APIClient, vision: Team) -> None:
    quota = {
        "pool": "default",
        "guaranteed_gpus": 4,
        "limit_gpus": 6,
        "lending_limit_gpus": None,
        "over_quota_weight": 1.0,
    }
    assert foreign_api.get(URL).json() == {"items": [quota]}
    assert foreign_api.get(DEFAULT).json() == quota


def test_an_admin_changes_what_is_named_and_the_rest_stays(
    admin_api: APIClient, vision: Team
) -> None:
    changes = {"guaranteed_gpus": 5, "lending_limit_gpus": 2}
    answer = admin_api.patch(DEFAULT, changes, format="json")
    assert answer.status_code == 200
    quota = Quota.objects.get(team=vision)
    assert (quota.guaranteed_gpus, quota.limit_gpus, quota.lending_limit_gpus) == (5, 6, 2)
    assert answer.json()["lending_limit_gpus"] == 2


def test_a_quota_that_is_not_there_yet_begins_with_defaults(
    admin_api: APIClient, pool: Pool
) -> None:
    Team.objects.create(name="robots")
    answer = admin_api.patch(
        "/api/v1/teams/robots/quotas/default", {"guaranteed_gpus": 3}, format="json"
    )
    assert answer.json()["limit_gpus"] is None
    assert Quota.objects.get(team__name="robots").guaranteed_gpus == 3


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "more than the pool has left": (
        {"guaranteed_gpus": 7, "limit_gpus": None},
        "The pool has 8 GPUs, of which 2 are guaranteed to other teams. Guarantee at most 6.",
    ),
    "a limit below the guarantee": ({"limit_gpus": 3}, "The limit (3) is below the guarantee (4)."),
    "lending more than the guarantee": (
        {"lending_limit_gpus": 5},
        "Team vision has 4 guaranteed GPUs to lend, not 5.",
    ),
    "a negative weight": ({"over_quota_weight": -1}, "greater than or equal to 0"),
    "a word for a number": ({"guaranteed_gpus": "many"}, "Use a whole number"),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_cannot_be_is_refused_with_what_would_be_right(
    admin_api: APIClient, vision: Team, language: Team, sentence: str
) -> None:
    changes, message = REFUSED[sentence]
    answer = admin_api.patch(DEFAULT, changes, format="json")
    assert answer.status_code == 400
    assert message in answer.content.decode()
    assert Quota.objects.get(team=vision).guaranteed_gpus == 4


def test_only_admins_change_quotas(api: APIClient) -> None:
    assert api.patch(DEFAULT, {"guaranteed_gpus": 1}, format="json").status_code == 403
    assert APIClient().patch(DEFAULT, {}, format="json").status_code == 401
    assert api.post(DEFAULT).status_code == 405


@pytest.mark.parametrize(
    "path",
    ["vision/quotas/none", "nobody/quotas/default", "nobody/quotas", "robots/quotas/default"],
)
def test_what_is_not_there_is_not_found(api: APIClient, path: str) -> None:
    Team.objects.create(name="robots")
    assert api.get(f"/api/v1/teams/{path}").status_code == 404


def test_children_are_guaranteed_at_most_what_their_parent_is(
    admin_api: APIClient, pool: Pool
) -> None:
    research = make_team("research", pool, guaranteed=5, limit=None)
    for name, guaranteed in (("one", 2), ("two", 3)):
        Team.objects.create(name=name, parent=research)
        path = f"/api/v1/teams/{name}/quotas/default"
        assert (
            admin_api.patch(path, {"guaranteed_gpus": guaranteed}, format="json").status_code == 200
        )
    answer = admin_api.patch(path, {"guaranteed_gpus": 4}, format="json")
    assert (
        "Its parent research is guaranteed 5 GPUs, of which 2 are guaranteed to other teams below"
        " it. Guarantee at most 3." in answer.content.decode()
    )
    answer = admin_api.patch(
        "/api/v1/teams/research/quotas/default", {"guaranteed_gpus": 4}, format="json"
    )
    assert "The teams below research are guaranteed 5 GPUs." in answer.content.decode()


def test_a_team_is_not_above_itself(pool: Pool) -> None:
    one = Team.objects.create(name="one")
    two = Team.objects.create(name="two", parent=one)
    one.parent = two
    with pytest.raises(ValidationError, match="no team is above itself"):
        one.full_clean()


def test_a_team_takes_its_quotas_and_the_teams_below_it_along_to_a_new_name(pool: Pool) -> None:
    research = make_team("research", pool, guaranteed=5, limit=None)
    one = Team.objects.create(name="one", parent=research)
    Quota.objects.create(team=one, pool=pool, guaranteed_gpus=5)
    research.name = "science"
    research.full_clean()
    Quota.objects.filter(team=one).update(guaranteed_gpus=6)
    with pytest.raises(ValidationError, match="The teams below science are guaranteed 6"):
        research.full_clean()


def test_a_quota_that_passes_to_another_team_is_not_counted_twice(pool: Pool, vision: Team) -> None:
    quota = Quota.objects.get(team=vision)
    quota.team = Team.objects.create(name="robots")
    quota.guaranteed_gpus, quota.limit_gpus = 8, None
    quota.full_clean()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("teams", [("vision", "language"), ("language", "vision")])
def test_two_admins_at_once_never_promise_more_than_there_is(
    admin_api: APIClient, admin_user: User, vision: Team, language: Team, teams: tuple[str, str]
) -> None:
    Quota.objects.update(guaranteed_gpus=0)
    other = APIClient()
    other.force_login(admin_user)

    def guarantee(client: APIClient, team: str) -> int:
        address = f"/api/v1/teams/{team}/quotas/default"
        return client.patch(address, {"guaranteed_gpus": 6}, format="json").status_code

    first, second = teams
    answers = ask_at_once(lambda: guarantee(admin_api, first), lambda: guarantee(other, second))
    assert answers == (200, 400)
    promised = dict(Quota.objects.values_list("team__name", "guaranteed_gpus"))
    assert promised == {first: 6, second: 0}


@pytest.mark.django_db(transaction=True)
def test_two_changes_of_one_quota_at_once_are_both_kept(
    admin_api: APIClient, admin_user: User, vision: Team
) -> None:
    other = APIClient()
    other.force_login(admin_user)
    answers = ask_at_once(
        lambda: admin_api.patch(DEFAULT, {"over_quota_weight": 3.0}, format="json").status_code,
        lambda: other.patch(DEFAULT, {"limit_gpus": 7}, format="json").status_code,
    )
    assert answers == (200, 200)
    quota = Quota.objects.get(team=vision)
    assert (quota.over_quota_weight, quota.limit_gpus) == (3.0, 7)


@pytest.mark.parametrize("gpus", ["3", True, 2.5])
def test_a_number_is_no_text(admin_api: APIClient, vision: Team, gpus: object) -> None:
    answer = admin_api.patch(DEFAULT, {"guaranteed_gpus": gpus}, format="json")
    assert (answer.status_code, answer.json()["details"][0]["field"]) == (400, "guaranteed_gpus")
