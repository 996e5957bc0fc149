"""Are /teams/{name}/members as promised: who is in a team, and who says so?"""

from __future__ import annotations

import logging
from typing import Any, Final

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient
from tenancy.access import grants, members
from tenancy.access.grants import Grant
from tenancy.access.permissions import (
    LEAD,
    MEMBER,
    TOKEN,
    VIEWER,
    Permission,
    permissions_of,
)
from tenancy.access.principal import Principal
from tenancy.errors import RoleTooStrong
from tenancy.models import Membership, Team

from tests.service.access.test_roles import client, person
from tests.service.at_once import ask_at_once

URL: Final = "/api/v1/teams/vision/members"


@pytest.fixture
def lead(vision: Team) -> APIClient:
    return client(person("carl", vision=LEAD))


def listed(api: APIClient, team: str = "vision") -> list[tuple[str, str, str]]:
    items = api.get(f"/api/v1/teams/{team}/members").json()["items"]
    return [(one["name"], one["role"], one["team"]) for one in items]


def added(api: APIClient, name: str, role: str, *, team: str = "vision") -> tuple[int, str]:
    body = {"name": name, "role": role}
    answer = api.post(f"/api/v1/teams/{team}/members", body, format="json")
    return answer.status_code, answer.json().get("code", "")


def changed(api: APIClient, name: str, role: str) -> tuple[int, str]:
    answer = api.patch(f"{URL}/{name}", {"role": role}, format="json")
    return answer.status_code, answer.json().get("code", "")


def removed(api: APIClient, name: str) -> tuple[int, str]:
    answer = api.delete(f"{URL}/{name}")
    return answer.status_code, answer.json().get("code", "") if answer.content else ""


def test_a_lead_adds_changes_and_removes(lead: APIClient) -> None:
    person("ada")
    assert added(lead, "ada", VIEWER) == (201, "")
    assert listed(lead) == [("ada", VIEWER, "vision"), ("carl", LEAD, "vision")]
    assert changed(lead, "ada", MEMBER) == (200, "")
    assert listed(lead)[0] == ("ada", MEMBER, "vision")
    assert removed(lead, "ada") == (204, "")
    assert listed(lead) == [("carl", LEAD, "vision")]


def test_everybody_of_the_team_sees_who_is_in_it_and_whether_they_may_change_it(
    lead: APIClient, api: APIClient
) -> None:
    viewer = client(person("ada", vision=VIEWER))
    for reader, may in ((lead, True), (viewer, False), (api, False)):
        told = reader.get(URL).json()
        assert (told["may_change"], len(told["items"])) == (may, 2)
    assert added(viewer, "ada", LEAD) == (403, "permission_denied")


def test_everybody_of_the_team_is_told_what_each_role_and_they_themselves_may_do(
    lead: APIClient, api: APIClient
) -> None:
    viewer = client(person("ada", vision=VIEWER))
    for reader, role in ((lead, LEAD), (viewer, VIEWER), (api, TOKEN)):
        told = reader.get(URL).json()
        assert set(told["may"]) == permissions_of(role)
        by_role = {one["permission"]: one["roles"] for one in told["permissions"]}
        assert by_role["see"] == [VIEWER, MEMBER, LEAD]
        assert by_role["manage_tokens"] == [LEAD]
        assert "administer" not in by_role


def test_those_of_teams_above_are_listed_after_those_of_the_team(lead: APIClient) -> None:
    Team.objects.create(name="robots", parent=Team.objects.get(name="vision"))
    person("zoe", robots=VIEWER)
    assert listed(lead, "robots") == [("zoe", VIEWER, "robots"), ("carl", LEAD, "vision")]
    assert added(lead, "zoe", VIEWER, team="robots") == (409, "already_member")
    person("ada")
    assert added(lead, "ada", LEAD, team="robots") == (201, "")


WRONG: Final[dict[str, tuple[Any, int, str]]] = {
    "nobody": ({"name": "nobody", "role": MEMBER}, 409, "unknown_person"),
    "somebody who left": ({"name": "gone", "role": MEMBER}, 409, "unknown_person"),
    "somebody twice": ({"name": "carl", "role": VIEWER}, 409, "already_member"),
    "an unknown role": ({"name": "ada", "role": "admin"}, 400, "invalid_request"),
    "no role": ({"name": "ada"}, 400, "invalid_request"),
    "a name that is too long": ({"name": "a" * 151, "role": MEMBER}, 400, "invalid_request"),
}


@pytest.mark.parametrize("sentence", WRONG)
def test_what_is_wrong_is_refused_in_words(lead: APIClient, sentence: str) -> None:
    User.objects.create_user("gone", is_active=False)
    body, status, code = WRONG[sentence]
    answer = lead.post(URL, body, format="json")
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.json()["message"]
    assert len(listed(lead)) == 1


def test_who_is_not_entered_here_is_not_found(lead: APIClient) -> None:
    Team.objects.create(name="robots", parent=Team.objects.get(name="vision"))
    for name in ("nobody", "carl"):  # who is a lead here by the team above
        answer = lead.delete(f"/api/v1/teams/robots/members/{name}")
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_a_team_has_a_bounded_number_of_members(
    lead: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    person("ada")
    monkeypatch.setattr(members, "MOST_MEMBERS", 1)
    assert added(lead, "ada", VIEWER) == (409, "too_many_members")


def test_the_last_lead_stays_but_for_an_admin(lead: APIClient, admin_user: User) -> None:
    assert removed(lead, "carl") == changed(lead, "carl", MEMBER) == (409, "last_lead")
    assert changed(lead, "carl", LEAD) == (200, "")
    Membership.objects.create(
        user=User.objects.create_user("gone", is_active=False),
        team=Team.objects.get(name="vision"),
        role=LEAD,
    )
    assert removed(lead, "carl") == (409, "last_lead")
    assert removed(client(admin_user), "carl") == (204, "")


def test_a_lead_above_is_a_lead_so_the_one_below_may_go(vision: Team, lead: APIClient) -> None:
    Team.objects.create(name="robots", parent=vision)
    below = client(person("ada", robots=LEAD))
    assert below.delete("/api/v1/teams/robots/members/ada").status_code == 204
    assert below.get("/api/v1/teams/robots/members").status_code == 404


def test_nobody_gives_or_takes_more_than_they_have(vision: Team) -> None:
    person("carl", vision=LEAD)
    person("ada", vision=VIEWER)
    some = frozenset({Permission.SEE, Permission.SUBMIT, Permission.MANAGE_MEMBERS})
    weak = Principal(name="weak", seen={"vision": vision}, permissions={vision.pk: some})
    for attempt in (
        lambda: members.change(weak, vision, "ada", LEAD),
        lambda: members.change(weak, vision, "carl", VIEWER),
        lambda: members.remove(weak, vision, "carl"),
        lambda: members.add(weak, vision, "zoe", MEMBER),
    ):
        with pytest.raises(RoleTooStrong):
            attempt()


def test_who_is_removed_or_whose_parent_team_is_left_sees_nothing_more(lead: APIClient) -> None:
    vision = Team.objects.get(name="vision")
    robots = Team.objects.create(name="robots", parent=vision)
    ada = person("ada", vision=VIEWER)
    browser = client(ada)
    session = browser.session.session_key or ""
    both = {
        Grant(team_id=team.pk, user_id=ada.pk, session_key=session) for team in (vision, robots)
    }
    assert grants.still_valid(both) == both
    assert removed(lead, "ada") == (204, "")
    assert grants.still_valid(both) == set()
    assert browser.get("/api/v1/teams/robots/members").status_code == 404


def test_each_change_is_logged_with_who_made_it(
    lead: APIClient, caplog: pytest.LogCaptureFixture
) -> None:
    person("ada")
    with caplog.at_level(logging.INFO, logger="tenancy.access.members"):
        added(lead, "ada", VIEWER)
        changed(lead, "ada", MEMBER)
        removed(lead, "ada")
    assert [one.getMessage() for one in caplog.records] == [
        "In team vision, ada: added as viewer.",
        "In team vision, ada: viewer before, member now.",
        "In team vision, ada: removed, member before.",
    ]
    assert {(one.action, one.by) for one in caplog.records} == {("members", "carl")}  # type: ignore[attr-defined]


@pytest.mark.django_db(transaction=True)
def test_of_two_leads_who_remove_each_other_at_once_one_stays(vision: Team) -> None:
    pair = [client(person(name, vision=LEAD)) for name in ("ada", "bob")]
    answers = ask_at_once(lambda: removed(pair[0], "bob"), lambda: removed(pair[1], "ada"))
    assert answers == ((204, ""), (409, "last_lead"))
    assert Membership.objects.filter(team=vision, role=LEAD).count() == 1
