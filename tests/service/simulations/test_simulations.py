"""Are GET and POST /simulations as promised?"""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient
from tenancy.models import Membership, Team

from autoscaler.simulation.api import commands, limits
from autoscaler.simulation.api.models import Simulation
from tests.service.at_once import ask_at_once
from tests.service.simulations.conftest import signed_in

URL = "/api/v1/simulations"


@pytest.fixture
def admin(admin_user: User, vision: Team) -> APIClient:
    return signed_in(admin_user)


@pytest.fixture
def lead(vision: Team) -> APIClient:
    user = User.objects.create_user("lea")
    Membership.objects.create(user=user, team=vision, role=Membership.Role.LEAD)
    return signed_in(user)


def body(**changes: Any) -> dict[str, Any]:
    generated = {"kind": "generated", "mix": "kinds", "jobs": 4}
    return {"trace": generated, "policies": ["completion_time"], **changes}


def ask(client: APIClient, **changes: Any) -> Any:
    return client.post(URL, body(**changes), format="json")


def test_a_request_is_accepted_and_waits_with_every_default_filled_in(admin: APIClient) -> None:
    answer = ask(admin, title="More GPUs?", add_gpus=4)
    assert answer.status_code == 202, answer.json()
    made = answer.json()
    assert (made["title"], made["state"], made["progress"]) == ("More GPUs?", "queued", 0.0)
    assert made["request"]["tick_seconds"] == 60.0
    assert made["result"] is None


def test_an_admin_sees_all_simulations_and_a_lead_their_own(
    admin: APIClient, lead: APIClient
) -> None:
    ask(admin, title="theirs")
    ask(lead, title="mine")
    assert [one["title"] for one in lead.get(URL).json()["items"]] == ["mine"]
    assert [one["title"] for one in admin.get(URL).json()["items"]] == ["mine", "theirs"]


def test_a_token_of_a_team_may_not_simulate(api: APIClient) -> None:
    answer = ask(api)
    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")
    assert not Simulation.objects.exists()


def test_history_tells_of_all_teams_so_it_is_for_admins(lead: APIClient) -> None:
    assert ask(lead, trace={"kind": "history", "days": 7}).status_code == 403


def test_a_history_without_measured_jobs_is_refused(admin: APIClient) -> None:
    answer = ask(admin, trace={"kind": "history", "days": 7})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_workload")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"policies": ["nonsense"]}, "policies"),
        ({"policies": ["static", "static"]}, "policies"),
        ({"policies": []}, "policies"),
        ({"pool": "elsewhere"}, "pool"),
        ({"trace": {"kind": "history"}}, "trace.days"),
        ({"trace": {"kind": "uploaded"}}, "trace.text"),
        ({"trace": {"kind": "guessed"}}, "trace.kind"),
        ({"quotas": [{"team": "nobody", "guaranteed_gpus": 1}]}, "quotas.0.team"),
        ({"quotas": [{"team": "vision", "guaranteed_gpus": 2, "limit_gpus": 1}]}, "quotas.0.limit"),
        ({"tick_seconds": 0}, "tick_seconds"),
        ({"tick_seconds": "nan"}, "tick_seconds"),
        ({"stall_seconds": "inf"}, "stall_seconds"),
        ({"horizon_hours": "nan"}, "horizon_hours"),
        ({"seed": -1}, "seed"),
        ({"trace": {"kind": "generated", "jobs": -4}}, "trace.jobs"),
        ({"trace": {"kind": "generated", "load": "nan"}}, "trace.load"),
        ({"trace": {"kind": "history", "days": "nan"}}, "trace.days"),
        ({"trace": {"kind": "uploaded", "text": ""}}, "trace.text"),
        ({"trace": {"kind": "uploaded", "text": "a\0b"}}, "trace.text"),
        ({"trace": "everything"}, "trace"),
        ({"quotas": [{"team": "vision", "guaranteed_gpus": -1}]}, "quotas.0.guaranteed"),
        (
            {"quotas": [{"team": "vision", "guaranteed_gpus": 1, "over_quota_weight": "nan"}]},
            "quotas.0.over",
        ),
        (
            {"quotas": [{"team": "vision", "guaranteed_gpus": 1}] * 2},
            "quotas",
        ),
    ],
)
def test_a_wrong_field_names_itself(admin: APIClient, changes: dict[str, Any], field: str) -> None:
    answer = ask(admin, **changes)
    assert answer.status_code == 400
    assert answer.json()["details"][0]["field"].startswith(field)


JSON_TRACE = '{"format": "concertina-trace", "version": 1, "jobs": %s}'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("eggs,milk\n6,1\n", "Looked for"),
        ("name,submitted_at,profile,samples,pool\n", "no jobs"),
        ("name,submitted_at,profile,samples\na,0,balanced,-1\n", "column samples: '-1'"),
        ("name,submitted_at,profile,samples\na,nan,balanced,1\n", "column submitted_at: 'nan'"),
        ("name,submitted_at,profile,samples\n" + "a" * 200_000 + ",0,balanced,1\n", "line 2"),
        (JSON_TRACE % "5", '"jobs" as a list'),
        (JSON_TRACE % "[]", "no jobs"),
        (JSON_TRACE % "[7]", "job 1"),
        (JSON_TRACE % '[{"profile": "balanced", "samples": "many"}]', "job 1"),
        ('{"a":' * 50_000, "nested too deeply"),
    ],
)
def test_an_uploaded_trace_that_cannot_be_read_says_why(
    admin: APIClient, text: str, why: str
) -> None:
    answer = ask(admin, trace={"kind": "uploaded", "text": text})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_workload")
    assert why in answer.json()["message"]


def test_what_would_take_too_long_is_refused_with_what_is_allowed(admin: APIClient) -> None:
    jobs = limits.MOST_SIMULATED_JOBS // 2 + 1
    answer = ask(
        admin,
        trace={"kind": "generated", "jobs": jobs},
        policies=["completion_time", "throughput"],
    )
    assert (answer.status_code, answer.json()["code"]) == (422, "simulation_too_large")
    assert "at most 20,000" in answer.json()["message"]


def test_more_gpus_cannot_be_taken_away_than_there_are(admin: APIClient) -> None:
    answer = ask(admin, add_gpus=-8)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_workload")


def test_only_so_many_simulations_may_wait(
    admin: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "MOST_WAITING_OF_ONE", commands.MOST_WAITING)
    for _ in range(commands.MOST_WAITING):
        assert ask(admin).status_code == 202
    assert ask(admin).json()["code"] == "too_many_simulations"


def test_simulations_need_a_login_and_the_right_method(admin: APIClient) -> None:
    assert APIClient().get(URL).status_code == 401
    assert APIClient().post(URL, body(), format="json").status_code == 401
    assert admin.put(URL, body(), format="json").status_code == 405


@pytest.mark.django_db(transaction=True)
def test_two_at_once_are_no_more_than_may_wait(
    admin: APIClient, lead: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "MOST_WAITING", 1)
    answers = ask_at_once(lambda: ask(admin).status_code, lambda: ask(lead).status_code)
    assert answers == (202, 429)
    assert Simulation.objects.count() == 1


def test_nobody_fills_the_queue_alone(admin: APIClient, lead: APIClient) -> None:
    for _ in range(commands.MOST_WAITING_OF_ONE):
        assert ask(lead).status_code == 202
    refused = ask(lead)
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_simulations")
    assert ask(admin).status_code == 202


def test_who_is_given_an_old_name_inherits_no_simulation(lead: APIClient, vision: Team) -> None:
    ask(lead)
    User.objects.filter(username="lea").update(username="lea-before")
    heir = User.objects.create_user("lea")
    Membership.objects.create(user=heir, team=vision, role=Membership.Role.LEAD)
    client = APIClient()
    client.force_login(heir)
    assert client.get(URL).json()["items"] == []
    assert len(lead.get(URL).json()["items"]) == 1
