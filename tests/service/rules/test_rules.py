"""Who sets rules of a team, and what may they say?"""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient
from tenancy.models import AuditEntry, Membership, Team

from jobs.admission.rules import line
from jobs.models import TeamRules
from tests.service.rules.conftest import person_in, problems, rules_of, set_rules

WHOLE = {
    "defaults": {"env": {"A": "1"}, "max_duration": "2h"},
    "bounds": {
        "gpus": {"most": 8},
        "max_duration": {"least": "10m", "most": "1d"},
        "resources.memory": {"most": "64GiB"},
        "budget_gpu_hours": {"most": 12.5},
    },
    "labels": {"cost-centre": {"pattern": "CC-*"}, "stage": {"values": ["dev", "prod"]}, "who": {}},
    "pools": ["default"],
    "modes": ["hot", "auto"],
}


def test_rules_are_read_as_they_were_set(vision: Team, admin: APIClient, api: APIClient) -> None:
    nothing = rules_of(api)
    assert nothing["rules"] == {
        "defaults": {},
        "bounds": {},
        "labels": {},
        "pools": None,
        "modes": None,
    }
    answer = set_rules(admin, **WHOLE)
    assert answer.status_code == 200, answer.json()
    assert answer.json()["rules"] == WHOLE
    assert answer.json()["version"] != nothing["version"]
    assert rules_of(api) == {**answer.json(), "may_change": False, "may_lock": False}
    assert set_rules(admin, bounds=None, modes=None).json()["rules"] == {
        **WHOLE,
        "bounds": {},
        "modes": None,
    }
    parts = dict.fromkeys(WHOLE)
    assert set_rules(admin, **parts).json()["version"] == nothing["version"]
    assert not TeamRules.objects.exists()


def test_who_has_read_another_version_changes_nothing(vision: Team, admin: APIClient) -> None:
    old = rules_of(admin)["version"]
    assert set_rules(admin, pools=["default"]).status_code == 200
    answer = set_rules(admin, modes=["hot"], version=old)
    assert (answer.status_code, answer.json()["code"]) == (412, "changed_meanwhile")
    without = admin.patch("/api/v1/teams/vision/rules", {"modes": ["hot"]}, format="json")
    assert without.status_code == 400
    assert rules_of(admin)["rules"]["modes"] is None


def test_leads_set_rules_of_their_team_and_of_those_below(
    vision: Team, robots: Team, language: Team
) -> None:
    lead, own = person_in(vision), person_in(robots)
    for by, team, code in ((lead, "vision", 200), (lead, "robots", 200), (own, "robots", 200)):
        assert set_rules(by, team, bounds={"priority": {"most": 70}}).status_code == code
    foreign = person_in(language)
    assert foreign.get("/api/v1/teams/vision/rules").status_code == 404
    headers = {"If-Match": "0" * 16}
    for by, team, code in ((foreign, "vision", 404), (own, "vision", 404)):
        url = f"/api/v1/teams/{team}/rules"
        assert by.patch(url, {"modes": None}, format="json", headers=headers).status_code == code
    member = person_in(vision, Membership.Role.MEMBER)
    assert set_rules(member, modes=["hot"]).status_code == 403


def test_leads_only_tighten_what_is_above(vision: Team, robots: Team, admin: APIClient) -> None:
    above = {
        "bounds": {"gpus": {"most": 8}, "priority": {"least": 10}},
        "labels": {"stage": {"values": ["dev", "prod"]}},
        "pools": ["default"],
        "modes": ["hot", "auto"],
    }
    assert set_rules(admin, **above).status_code == 200
    lead = person_in(robots)
    looser = {
        "bounds": {"gpus": {"most": 9}, "priority": {"least": 9}},
        "labels": {"stage": {"values": ["dev", "test"]}},
        "pools": ["default", "other"],
        "modes": ["fixed"],
    }
    answer = set_rules(lead, "robots", **looser)
    assert answer.status_code == 422
    assert problems(answer) == {
        "bounds.gpus.most": "is more than that of team vision above it. Use at most 8.",
        "bounds.priority.least": "is less than that of team vision above it. Use at least 10.",
        "labels.stage.values": "is not among the values of team vision. Use some of: dev, prod.",
        "pools": "is not in pools of team vision. Use some of: default.",
        "modes": "is not in modes of team vision. Use some of: hot, auto.",
    }
    assert set_rules(lead, "robots", **above).status_code == 200
    shown = rules_of(lead, "robots")
    assert [one["team"] for one in shown["above"]] == ["vision"]


def test_locked_rules_are_changed_from_above_only(
    vision: Team, robots: Team, admin: APIClient
) -> None:
    own, lead = person_in(robots), person_in(vision)
    assert set_rules(own, "robots", is_locked=True).status_code == 403
    assert set_rules(lead, "robots", is_locked=True, modes=["hot"]).status_code == 200
    refused = set_rules(own, "robots", modes=None)
    assert refused.status_code == 403
    assert "are locked" in refused.json()["message"]
    assert not rules_of(own, "robots")["may_change"]
    assert set_rules(lead, "robots", is_locked=False).status_code == 200
    assert set_rules(own, "robots", modes=None).status_code == 200
    assert not TeamRules.objects.filter(team=robots).exists()


def test_a_default_that_a_rule_forbids_is_refused(
    vision: Team, robots: Team, admin: APIClient
) -> None:
    assert set_rules(admin, bounds={"priority": {"most": 60}}).status_code == 200
    lead = person_in(robots)
    answer = set_rules(lead, "robots", defaults={"priority": 70})
    assert answer.status_code == 422
    assert list(problems(answer)) == ["defaults.priority"]
    own = set_rules(admin, defaults={"elastic": {"mode": "fixed"}}, modes=["hot"])
    assert list(problems(own)) == ["defaults.elastic.mode"]
    stage = {"stage": {"values": ["dev", "prod"]}}
    labels = set_rules(admin, defaults={"labels": {"stage": "test"}}, labels=stage)
    assert problems(labels)["defaults.labels.stage"].endswith(". Use one of: dev, prod.")
    # What a default leaves open is for jobs to say, though the platform's own would not do.
    open_mode = {"defaults": {"elastic": {"max_workers": 2}}, "modes": ["hot"]}
    assert set_rules(admin, **open_mode).status_code == 200


@pytest.mark.parametrize(
    ("parts", "place"),
    [
        ({"bounds": {"gpus": {"most": 0}}}, "bounds.gpus.most"),
        ({"bounds": {"gpus": {"most": 64 * 10_000 + 1}}}, "bounds.gpus.most"),
        ({"bounds": {"gpus": {"most": True}}}, "bounds.gpus.most"),
        ({"bounds": {"gpus": {"most": 1.5}}}, "bounds.gpus.most"),
        ({"bounds": {"priority": {"least": -1}}}, "bounds.priority.least"),
        ({"bounds": {"priority": {"least": 5, "most": 4}}}, "bounds.priority.least"),
        ({"bounds": {"priority": {}}}, "bounds.priority"),
        ({"bounds": {"priority": {"min": 3}}}, "bounds.priority"),
        ({"bounds": {"prio": {"most": 3}}}, "bounds.prio"),
        ({"bounds": {"max_duration": {"most": 60}}}, "bounds.max_duration.most"),
        ({"bounds": {"resources.memory": {"most": "9999TiB"}}}, "bounds.resources.memory.most"),
        ({"bounds": {"budget_gpu_hours": {"most": 1e300}}}, "bounds.budget_gpu_hours.most"),
        ({"bounds": []}, "bounds"),
        ({"bounds": "x"}, "bounds"),
        ({"labels": {"ü": {}}}, "labels.ü"),
        ({"labels": {"a": {"values": []}}}, "labels.a.values"),
        ({"labels": {"a": {"values": ["x" * 201]}}}, "labels.a.values"),
        ({"labels": {"a": {"values": ["\0"]}}}, "labels.a.values[0]"),
        ({"labels": {"a": {"pattern": 3}}}, "labels.a.pattern"),
        ({"labels": {"a": {"values": ["x"], "pattern": "y"}}}, "labels.a"),
        ({"labels": {f"a{n}": {} for n in range(21)}}, "labels"),
        ({"pools": []}, "pools"),
        ({"pools": [["x"]]}, "pools"),
        ({"modes": ["warm"]}, "modes"),
        ({"defaults": {"name": "x"}}, "defaults.name"),
        ({"defaults": {"template": "x"}}, "defaults.template"),
        ({"defaults": {"array": {}}}, "defaults.array"),
        ({"defaults": {"elastic": {"max_wrkers": 1}}}, "defaults.elastic.max_wrkers"),
        ({"defaults": {"env": {"A": "x" * 5000}}}, "defaults.env.A"),
        ({"defaults": {"env": {f"A{n}": "x" * 4000 for n in range(5)}}}, "defaults"),
        ({"defaults": []}, "defaults"),
    ],
)
def test_what_cannot_be_a_rule_is_refused_by_its_place(
    vision: Team, admin: APIClient, parts: Any, place: str
) -> None:
    answer = set_rules(admin, **parts)
    assert answer.status_code in {400, 422}, answer.json()
    assert place in {one["field"] for one in answer.json()["details"]}
    assert not TeamRules.objects.exists()


def test_a_change_is_told_by_the_parts_that_differ(vision: Team, admin: APIClient) -> None:
    set_rules(admin, modes=["hot"], pools=["default"])
    set_rules(admin, modes=["auto"], is_locked=True)
    entry = AuditEntry.objects.filter(operation="change_team_rules").latest("id")
    assert entry.team_id == vision.pk
    assert entry.before == {"modes": ["hot"], "is_locked": False}
    assert entry.after == {"modes": ["auto"], "is_locked": True}


def test_rules_are_read_in_one_statement(
    vision: Team, robots: Team, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    TeamRules.objects.create(team=vision, modes=["hot"])
    below = Team.objects.create(name="arms", parent=robots)
    with django_assert_num_queries(1):
        found = line.read(below)
    assert [one.team for one in found.rules] == ["arms", "robots", "vision"]
    assert found.rules[2].rules.modes == ("hot",)
    alone = line.read(vision)
    assert alone.stamp != found.stamp
    TeamRules.objects.filter(team=vision).update(modes=["auto"])
    assert line.read(below).stamp != found.stamp


def test_a_rule_that_this_release_cannot_read_does_not_count_and_others_do(
    vision: Team, admin_user: User
) -> None:
    TeamRules.objects.create(team=vision, bounds={"unknown": {"most": 1}}, modes=["hot"])
    found = line.read(vision).own.rules
    assert (dict(found.bounds), found.modes) == ({}, ("hot",))


def test_a_part_that_nobody_knows_is_refused_and_takes_nothing_away(
    vision: Team, admin: APIClient
) -> None:
    assert set_rules(admin, modes=["hot"]).status_code == 200
    answer = set_rules(admin, modes=None, bound={"gpus": {"most": 1}})
    assert answer.status_code == 400
    assert [one["field"] for one in answer.json()["details"]] == ["bound"]
    assert rules_of(admin)["rules"]["modes"] == ["hot"]


def test_what_was_tightened_above_since_stands_against_no_other_change(
    vision: Team, robots: Team, admin: APIClient
) -> None:
    lead = person_in(robots)
    own = {"bounds": {"gpus": {"most": 8}}, "defaults": {"priority": 70}}
    assert set_rules(lead, "robots", **own).status_code == 200
    above = {"gpus": {"most": 4}, "priority": {"most": 60}}
    assert set_rules(admin, bounds=above).status_code == 200
    assert set_rules(lead, "robots", labels={"who": {}}).status_code == 200
    for bounds in ({"gpus": {"most": 9}}, {"gpus": {"least": 5}}):
        refused = set_rules(lead, "robots", bounds=bounds)
        assert refused.status_code == 422
        assert [one.split(".")[:2] for one in problems(refused)] == [["bounds", "gpus"]]
    assert set_rules(lead, "robots", bounds={"gpus": {"most": 3}}).status_code == 200


@pytest.mark.parametrize(
    ("above", "below", "place"),
    [
        (
            {"bounds": {"gpus": {"most": 8}}},
            {"bounds": {"gpus": {"least": 9}}},
            "bounds.gpus.least",
        ),
        (
            {"bounds": {"priority": {"least": 20}}},
            {"bounds": {"priority": {"most": 19}}},
            "bounds.priority.most",
        ),
        ({"labels": {"a": {"values": ["x"]}}}, {"labels": {"a": {"pattern": "y*"}}}, "labels.a"),
        ({"labels": {"a": {"pattern": "y*"}}}, {"labels": {"a": {"values": ["x"]}}}, "labels.a"),
        ({"pools": ["default"]}, {"pools": ["other"]}, "pools"),
        ({"modes": ["hot"]}, {"modes": ["fixed"]}, "modes"),
    ],
)
def test_a_rule_with_which_no_job_would_do_is_refused(
    robots: Team, admin: APIClient, above: Any, below: Any, place: str
) -> None:
    assert set_rules(admin, **above).status_code == 200
    for by in (admin, person_in(robots)):
        answer = set_rules(by, "robots", **below)
        assert answer.status_code == 422
        assert [one["field"] for one in answer.json()["details"]] == [place]


def test_a_rule_may_leave_one_value(vision: Team, robots: Team, admin: APIClient) -> None:
    assert set_rules(admin, bounds={"gpus": {"most": 8}}, modes=["hot", "auto"]).status_code == 200
    own = {"bounds": {"gpus": {"least": 8}}, "modes": ["auto"], "labels": {"a": {"pattern": "*"}}}
    assert set_rules(person_in(robots), "robots", **own).status_code == 200
