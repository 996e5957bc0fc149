"""What do rules and templates make of specs, at every door through which one comes in?"""

from __future__ import annotations

from typing import Any

import pytest
from cluster.models import Node, Pool
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient
from tenancy.models import Team

from jobs.models import Job, JobTemplate, TeamRules
from tests.service.at_once import ask_at_once
from tests.service.conftest import SubmitJob, client_of, spec
from tests.service.rules.conftest import add_template, problems, set_rules

URL = "/api/v1/jobs"


def sent(by: APIClient, path: str = URL, **changes: Any) -> Any:
    return by.post(path, spec(**changes), format="json")


def test_a_refusal_names_the_rule_whose_it_is_and_what_to_change(
    vision: Team, robots: Team
) -> None:
    TeamRules.objects.create(
        team=vision,
        bounds={
            "gpus": {"most": 3},
            "priority": {"least": 20, "most": 60},
            "max_duration": {"most": "1d"},
            "retry.max_restarts": {"most": 2},
        },
        labels={"cost-centre": {"pattern": "CC-*"}, "stage": {"values": ["dev", "prod"]}},
    )
    TeamRules.objects.create(
        team=robots,
        bounds={"gpus": {"most": 2}},
        modes=["hot"],
        pools=["elsewhere"],
        labels={"who": {}},
    )
    labels = {"cost-centre": "x", "stage": "Prod", "who": ""}
    answer = sent(client_of(robots), team="robots", priority=10, labels=labels)
    assert (answer.status_code, answer.json()["code"]) == (422, "breaks_rule")
    ask = "or ask a lead of team"
    assert problems(answer) == {
        "elastic.max_workers": "in all, with resources.gpus_per_worker, is more than 2, the rule"
        f" bounds.gpus.most of team robots. Use at most 2 GPUs, {ask} robots to change the rule.",
        "priority": "is less than 20, the rule bounds.priority.least of team vision. Use at least"
        f" 20, {ask} vision to change the rule.",
        "max_duration": "is missing, which is more than 1d, the rule bounds.max_duration.most of"
        f" team vision. Use at most 1d, {ask} vision to change the rule.",
        "retry.max_restarts": "is more than 2, the rule bounds.retry.max_restarts.most of team"
        f" vision. Use at most 2, {ask} vision to change the rule.",
        "labels.who": "is not as required by the rule labels.who of team robots. Give it a value,"
        f" {ask} robots to change the rule.",
        "labels.cost-centre": "is not as required by the rule labels.cost-centre of team vision."
        f" Use a value like CC-*, where * is any characters, {ask} vision to change the rule.",
        "labels.stage": "is not as required by the rule labels.stage of team vision. Use one of:"
        f" dev, prod, {ask} vision to change the rule.",
        "pool": "is not among those of the rule pools of team robots. Use one of: elsewhere;"
        f" {ask} robots to change the rule.",
        "elastic.mode": "is not among those of the rule modes of team robots. Use one of: hot;"
        f" {ask} robots to change the rule.",
    }
    assert not Job.objects.exists()


def test_both_ends_of_a_bound_are_within_it(vision: Team, api: APIClient) -> None:
    TeamRules.objects.create(team=vision, bounds={"priority": {"least": 20, "most": 60}})
    found = [sent(api, name=f"p{n}", priority=n).status_code for n in (19, 20, 60, 61)]
    assert found == [422, 201, 201, 422]


def test_listed_sizes_count_as_the_range_does(vision: Team, api: APIClient) -> None:
    TeamRules.objects.create(team=vision, bounds={"elastic.max_workers": {"most": 2}})
    listed = {"min_workers": 1, "max_workers": 4, "allowed_workers": [1, 2]}
    assert sent(api, elastic=listed).status_code == 201
    listed["allowed_workers"] = [1, 4]
    assert sent(api, name="b", elastic=listed).status_code == 422


def test_defaults_fill_what_is_left_out_and_the_nearest_team_wins(
    vision: Team, robots: Team, api: APIClient
) -> None:
    TeamRules.objects.create(
        team=vision,
        defaults={"max_duration": "2h", "env": {"A": "v", "B": "v"}, "priority": 30},
    )
    TeamRules.objects.create(
        team=robots, defaults={"env": {"B": "r"}, "retry": {"max_restarts": 1}}
    )
    answer = sent(client_of(robots), team="robots", env={"C": "own"}, priority=50)
    found = answer.json()["resolved_spec"]
    assert found["env"] == {"A": "v", "B": "r", "C": "own"}
    assert (found["max_duration"], found["priority"]) == ("2h", 50)
    assert found["retry"] == {"max_restarts": 1}
    assert answer.json()["spec"]["env"] == {"C": "own"}
    alone = sent(api, max_duration=None).json()["resolved_spec"]
    assert (alone["max_duration"], alone["env"]) == (None, {"A": "v", "B": "v"})


def test_a_template_fills_before_defaults_and_is_told_of(vision: Team, api: APIClient) -> None:
    TeamRules.objects.create(team=vision, defaults={"priority": 10, "env": {"A": "d", "B": "d"}})
    assert add_template(api, "usual", {"priority": 20, "env": {"A": "t", "C": "t"}}).json()
    body = {"name": "a", "command": ["x"], "template": "usual", "env": {"C": "own"}}
    answer = api.post(URL, body, format="json")
    assert answer.status_code == 201, answer.json()
    found = answer.json()
    assert found["resolved_spec"]["env"] == {"A": "t", "B": "d", "C": "own"}
    assert found["resolved_spec"]["priority"] == 20
    assert found["template"] == {"team": "vision", "name": "usual", "version": 1}
    assert found["spec"] == body
    rerun = api.post(f"{URL}/{found['id']}/rerun", {"name": "b"}, format="json")
    assert rerun.json()["template"] == found["template"]
    other = api.post(f"{URL}/{found['id']}/rerun", {"template": "usual"}, format="json")
    assert list(problems(other)) == ["template"]


def test_a_job_that_runs_once_more_for_another_team_tells_nothing_of_the_templates_of_the_first(
    vision: Team, language: Team, admin: APIClient
) -> None:
    assert add_template(admin, "secret-plans", {"priority": 20}).status_code == 201
    job = sent(admin, team="vision", template="secret-plans").json()
    rerun = admin.post(f"{URL}/{job['id']}/rerun", {"team": "language"}, format="json")
    assert rerun.status_code == 201, rerun.json()
    assert (rerun.json()["team"], rerun.json()["template"]) == ("language", None)


def test_values_of_trials_go_into_what_the_spec_itself_says(vision: Team, api: APIClient) -> None:
    """Else a trial would begin with the text of a placeholder, and nobody would know."""
    part = {"env": {"LR": "{{lr}}", "A": "t"}}
    assert add_template(api, "usual", part).status_code == 201
    array = spec(
        template="usual", labels={"lr": "{{lr}}"}, array={"parameters": {"lr": [0.1, 0.2]}}
    )
    refused = api.post(f"{URL}:bulk", {"spec": array}, format="json")
    assert refused.status_code == 422
    assert list(problems(refused)) == ["template"]
    own = {**array, "env": {"LR": "{{lr}}"}}
    assert api.post(f"{URL}:bulk", {"spec": own}, format="json").status_code == 201
    assert [one.resolved_spec["env"] for one in Job.objects.order_by("name")] == [
        {"LR": "0.1", "A": "t"},
        {"LR": "0.2", "A": "t"},
    ]
    TeamRules.objects.create(team=vision, defaults={"command": ["x", "{{ lr }}"]})
    without = {name: part for name, part in own.items() if name not in {"template", "command"}}
    refused = api.post(f"{URL}:bulk", {"spec": {**without, "name": "b"}}, format="json")
    assert list(problems(refused)) == ["array"]


def test_a_template_is_of_a_team_and_those_below(
    vision: Team, robots: Team, language: Team, foreign_api: APIClient
) -> None:
    for team, priority in ((vision, 20), (robots, 30)):
        JobTemplate.objects.create(team=team, name="usual", spec={"priority": priority})
    JobTemplate.objects.create(team=vision, name="above", spec={"priority": 25})
    below = client_of(robots)
    for name, team, priority in (("usual", "robots", 30), ("above", "vision", 25)):
        found = sent(below, team="robots", name=name, template=name).json()
        assert found["template"] == {"team": team, "name": name, "version": 1}
        assert found["resolved_spec"]["priority"] == priority
    unknown = sent(below, team="robots", template="ünbekannt")
    assert problems(unknown) == {
        "template": "is no template of team robots. Use one of: above, usual."
    }
    foreign = sent(foreign_api, template="usual")
    assert problems(foreign) == {
        "template": "is no template of team language. Leave it out: it has none."
    }
    for wrong in (["x"], {"a": 1}, 3, ""):
        assert sent(below, team="robots", template=wrong).status_code == 422
    assert list(problems(sent(below, team="nobody", template="usual"))) == ["team"]


BOUND = {"priority": {"most": 60}}


def test_every_door_is_guarded(vision: Team, api: APIClient, submit: SubmitJob) -> None:
    job = submit(priority=70)
    add = {"name": "nightly", "spec": spec(priority=70), "cron": "0 2 * * *"}
    path = "/api/v1/teams/vision/schedules"
    assert api.post(path, {**add, "name": "before"}, format="json").status_code == 201
    TeamRules.objects.create(team=vision, bounds=BOUND)
    dear = spec(name="dear", priority=70)
    array = {**dear, "env": {"A": "{{a}}"}, "array": {"parameters": {"a": [1, 2]}}}
    asked = {
        "submit": (URL, dear),
        "bulk": (f"{URL}:bulk", {"jobs": [spec(name="cheap"), dear]}),
        "changes": (f"{URL}:bulk", {"spec": spec(), "changes": [{"priority": 61}]}),
        "array": (f"{URL}:bulk", {"spec": array}),
        "rerun": (f"{URL}/{job.id}/rerun", {"name": "again"}),
        "schedule": (path, add),
        "run": (f"{path}/before/run", None),
    }
    for door, (address, body) in asked.items():
        answer = api.post(address, body, format="json")
        assert (answer.status_code, answer.json()["code"]) == (422, "breaks_rule"), door
    told = api.post(f"{URL}:validate", dear, format="json").json()
    assert [one["field"] for one in told["problems"]] == ["priority"]
    assert Job.objects.count() == 1


def test_an_edit_breaks_no_rule_and_may_leave_what_was_broken(
    vision: Team, api: APIClient, submit: SubmitJob
) -> None:
    job = submit(priority=70)
    TeamRules.objects.create(team=vision, bounds=BOUND, defaults={"max_duration": "3h"})

    def edited(**changes: Any) -> Any:
        return api.patch(f"{URL}/{job.id}", changes, format="json")

    assert edited(labels={"a": "b"}).status_code == 200
    assert edited(priority=80).json()["code"] == "breaks_rule"
    assert edited(priority=60).status_code == 200
    assert edited(priority=61).status_code == 422
    assert edited(max_duration="1h").status_code == 200
    assert edited(max_duration=None).json()["resolved_spec"]["max_duration"] == "3h"


def test_rules_of_other_teams_count_for_nobody_else(
    vision: Team, language: Team, api: APIClient
) -> None:
    TeamRules.objects.create(team=language, modes=["hot"], defaults={"priority": 1})
    assert sent(api).json()["resolved_spec"]["priority"] == 50


def test_many_specs_with_a_template_take_as_many_statements_as_one(
    vision: Team, api: APIClient
) -> None:
    TeamRules.objects.create(team=vision, bounds=BOUND)
    JobTemplate.objects.create(team=vision, name="usual", spec={"priority": 20})

    def statements(number: int, template: str) -> int:
        jobs = [spec(name=f"{template}{number}-{n}", template=template) for n in range(number)]
        with CaptureQueriesContext(connection) as made:
            api.post(f"{URL}:bulk", {"jobs": jobs}, format="json")
        return len(made)

    statements(1, "usual")
    statements(1, "none")
    assert statements(2, "usual") == statements(20, "usual")
    assert statements(2, "none") == statements(20, "none")


@pytest.mark.django_db(transaction=True)
def test_a_bulk_that_waits_for_a_change_of_rules_is_judged_by_it() -> None:
    pool = Pool.objects.create(name="default")
    Node.objects.create(pool=pool, name="node-1", gpus=4)
    above = Team.objects.create(name="vision")
    team = Team.objects.create(name="robots", parent=above)
    admin, program = APIClient(), client_of(team)
    admin.force_login(User.objects.create_superuser("root"))
    jobs = [spec(name=f"j{n}", team="robots", priority=70) for n in range(3)]
    changed, answer = ask_at_once(
        lambda: set_rules(admin, "vision", bounds=BOUND),
        lambda: program.post(f"{URL}:bulk", {"jobs": jobs}, format="json"),
    )
    assert changed.status_code == 200
    assert (answer.status_code, answer.json()["code"]) == (422, "breaks_rule")
    assert not Job.objects.exists()
    changed, answer = ask_at_once(
        lambda: set_rules(admin, "vision", bounds=None, defaults={"priority": 33}),
        lambda: program.post(URL, spec(team="robots"), format="json"),
    )
    assert answer.status_code == 201
    assert answer.json()["resolved_spec"]["priority"] == 33
