"""Who keeps templates of a team, and what may they say?"""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient
from tenancy.models import Membership, Team

from jobs.commands.rules import templates
from jobs.models import JobTemplate
from tests.service.rules.conftest import add_template, person_in, problems


def change(by: APIClient, name: str, version: int, team: str = "vision", **changes: Any) -> Any:
    url = f"/api/v1/teams/{team}/templates/{name}"
    return by.patch(url, changes, format="json", headers={"If-Match": f'"{version}"'})


def test_a_template_is_added_changed_and_deleted(vision: Team, api: APIClient) -> None:
    made = add_template(api, "usual", {"max_restarts": 2, "priority": 20}).json()
    assert made["spec"] == {"retry": {"max_restarts": 2}, "priority": 20}
    assert (made["team"], made["version"], made["may_change"]) == ("vision", 1, True)
    same = change(api, "usual", 1, description=made["description"]).json()
    assert same["version"] == 1
    after = change(api, "usual", 1, spec={"priority": 30}).json()
    assert (after["version"], after["spec"]) == (2, {"priority": 30})
    stale = change(api, "usual", 1, spec={})
    assert (stale.status_code, stale.json()["code"]) == (412, "changed_meanwhile")
    assert add_template(api, "usual", {}).json()["code"] == "name_in_use"
    url = "/api/v1/teams/vision/templates"
    assert [one["name"] for one in api.get(url).json()["items"]] == ["usual"]
    assert api.delete(f"{url}/usual").status_code == 204
    assert api.get(f"{url}/usual").status_code == 404


def test_one_of_a_team_above_is_seen_and_changed_there_only(vision: Team, robots: Team) -> None:
    JobTemplate.objects.create(team=vision, name="usual", spec={})
    own = person_in(robots)
    url = "/api/v1/teams/robots/templates"
    (item,) = own.get(url).json()["items"]
    assert (item["team"], item["may_change"]) == ("vision", False)
    refused = change(own, "usual", 1, team="robots", description="x")
    assert refused.status_code == 404
    assert "is of team vision" in refused.json()["message"]
    assert add_template(own, "usual", {"priority": 1}, team="robots").status_code == 201
    assert own.get(f"{url}/usual").json()["team"] == "robots"


def test_members_use_and_do_not_change_and_others_see_none(vision: Team, language: Team) -> None:
    JobTemplate.objects.create(team=vision, name="usual", spec={})
    member, foreign = person_in(vision, Membership.Role.MEMBER), person_in(language)
    url = "/api/v1/teams/vision/templates"
    assert member.get(url).json()["may_add"] is False
    assert add_template(member, "own", {}).status_code == 403
    assert change(member, "usual", 1, description="x").status_code == 403
    assert member.delete(f"{url}/usual").status_code == 403
    assert [foreign.get(one).status_code for one in (url, f"{url}/usual")] == [404, 404]


@pytest.mark.parametrize(
    ("spec", "place"),
    [
        ({"name": "x"}, "spec.name"),
        ({"team": "vision"}, "spec.team"),
        ({"template": "x"}, "spec.template"),
        ({"prioritaet": 1}, "spec.prioritaet"),
        ({"priority": 101}, "spec.priority"),
        ({"env": {"Ä": "x"}}, "spec.env"),
        ([], "spec"),
        (None, "spec"),
    ],
)
def test_what_is_no_part_of_a_spec_is_refused(
    vision: Team, api: APIClient, spec: Any, place: str
) -> None:
    answer = add_template(api, "usual", spec)
    assert answer.status_code in {400, 422}
    assert list(problems(answer)) == [place]


def test_a_team_has_so_many_and_no_more(
    vision: Team, api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(templates, "MOST_OF_TEAM", 2)
    found = [add_template(api, f"t{n}", {}).status_code for n in range(3)]
    assert found == [201, 201, 409]


def test_a_field_that_nobody_knows_is_refused(vision: Team, api: APIClient) -> None:
    assert add_template(api, "usual", {}).status_code == 201
    answer = change(api, "usual", 1, specs={"priority": 1})
    assert answer.status_code == 400
    assert [one["field"] for one in answer.json()["details"]] == ["specs"]
