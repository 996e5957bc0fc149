"""Are /teams/{team}/secrets and /teams/{team}/secrets/{secret} as promised?"""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient
from tenancy.models import Membership, Secret, Team
from tenancy.secrets import team_secrets
from tenancy.secrets.values import RegistrySecret

from tests.service.at_once import ask_at_once
from tests.service.conftest import client_of

URL = "/api/v1/teams/vision/secrets"
WANDB = f"{URL}/wandb"
VARIABLES = {"kind": "environment", "variables": {"WANDB_API_KEY": " k ", "WANDB_MODE": ""}}
LOGIN = {
    "kind": "registry",
    "registry": "Registry.Example.com:5000",
    "username": "robot",
    "password": "p",
}


def member(team: Team, role: str) -> APIClient:
    user = User.objects.create_user(role)
    Membership.objects.create(team=team, user=user, role=role)
    client = APIClient()
    client.force_login(user)
    return client


def test_what_is_set_is_listed_without_its_values_and_read_by_jobs(
    api: APIClient, vision: Team
) -> None:
    assert api.put(WANDB, VARIABLES, format="json").status_code == 201
    answer = api.put(f"{URL}/images", LOGIN, format="json")
    assert answer.json()["registry"] == "registry.example.com:5000"
    shown = api.get(URL).json()
    assert shown["may_set"] is True
    assert [one["name"] for one in shown["items"]] == ["images", "wandb"]
    assert shown["items"][1]["variables"] == ["WANDB_API_KEY", "WANDB_MODE"]
    assert shown["items"][1]["updated_by"] == "vision/ci"
    assert team_secrets.environment_of(vision, ["wandb"]) == VARIABLES["variables"]
    assert team_secrets.registry_login_of(vision, "registry.example.com:5000") == RegistrySecret(
        registry="registry.example.com:5000", username="robot", password="p"
    )
    assert team_secrets.registry_login_of(vision, "elsewhere.example.com") is None


def test_a_secret_is_replaced_whole(api: APIClient, vision: Team) -> None:
    api.put(WANDB, VARIABLES, format="json")
    again = {"kind": "environment", "variables": {"OTHER": "new"}}
    assert api.put(WANDB, again, format="json").status_code == 200
    assert team_secrets.environment_of(vision, ["wandb"]) == {"OTHER": "new"}


def test_members_see_names_and_leads_set_them(vision: Team) -> None:
    someone, lead = member(vision, "member"), member(vision, "lead")
    assert lead.put(WANDB, VARIABLES, format="json").status_code == 201
    shown = someone.get(URL).json()
    assert (shown["may_set"], len(shown["items"])) == (False, 1)
    for answer in (someone.put(WANDB, VARIABLES, format="json"), someone.delete(WANDB)):
        assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")
    assert lead.delete(WANDB).status_code == 204


def test_an_admin_sets_secrets_of_every_team(vision: Team, admin_user: User) -> None:
    client = APIClient()
    client.force_login(admin_user)
    assert client.put(WANDB, VARIABLES, format="json").status_code == 201


def test_another_team_cannot_tell_what_there_is(
    api: APIClient, foreign_api: APIClient, language: Team
) -> None:
    api.put(WANDB, VARIABLES, format="json")
    nowhere = "/api/v1/teams/nobody/secrets"
    for ours, missing in ((URL, nowhere), (WANDB, f"{nowhere}/wandb")):
        method = "get" if ours == URL else "delete"
        answers = [getattr(foreign_api, method)(path) for path in (ours, missing)]
        assert [answer.status_code for answer in answers] == [404, 404]
        assert answers[0].content == answers[1].content
    assert foreign_api.put(WANDB, VARIABLES, format="json").status_code == 404
    assert foreign_api.get("/api/v1/teams/language/secrets").json()["items"] == []
    with pytest.raises(team_secrets.SecretUnavailable):
        team_secrets.environment_of(language, ["wandb"])


def test_nobody_asks_without_a_token_or_in_another_way(api: APIClient) -> None:
    assert APIClient().get(URL).status_code == 401
    assert APIClient().put(WANDB, VARIABLES, format="json").status_code == 401
    assert api.post(URL, VARIABLES, format="json").status_code == 405
    assert api.get(WANDB).status_code == 405
    assert api.delete(WANDB).status_code == 404


VALUE = "canary-7b1f"
REFUSED: dict[str, tuple[Any, str]] = {
    "no object": ([VALUE], ""),
    "an unknown kind": ({"kind": VALUE}, "kind"),
    "an unknown field": ({**VARIABLES, "values": VALUE}, "values"),
    "a field of the other kind": ({**VARIABLES, "password": VALUE}, "password"),
    "no variables": ({"kind": "environment"}, "variables"),
    "an empty mapping": ({"kind": "environment", "variables": {}}, "variables"),
    "a nested value": ({"kind": "environment", "variables": {"A": {"B": VALUE}}}, "variables.A"),
    "a name that no shell takes": (
        {"kind": "environment", "variables": {"1-A": VALUE}},
        "variables.1-A",
    ),
    "a name of the platform": (
        {"kind": "environment", "variables": {"CONCERTINA_TOKEN": VALUE}},
        "variables.CONCERTINA_TOKEN",
    ),
    "a null character": (
        {"kind": "environment", "variables": {"A": f"{VALUE}\0"}},
        "variables.A",
    ),
    "too long a value": (
        {"kind": "environment", "variables": {"A": VALUE * 5000}},
        "variables.A",
    ),
    "too many variables": (
        {"kind": "environment", "variables": {f"A{n}": VALUE for n in range(101)}},
        "variables",
    ),
    "no password": ({**LOGIN, "password": ""}, "password"),
    "no registry": ({**LOGIN, "registry": "https://x.example.com", "password": VALUE}, "registry"),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_cannot_be_kept_is_refused_by_its_field_without_its_value(
    api: APIClient, sentence: str
) -> None:
    body, field = REFUSED[sentence]
    answer = api.put(WANDB, body, format="json")
    assert answer.status_code == 400
    assert [one["field"] for one in answer.json()["details"]] == [field]
    assert VALUE not in answer.content.decode()
    assert not Secret.objects.exists()


UNREADABLE = [
    "",
    f'{{"kind": "{VALUE}',
    f'{{"A": "{VALUE}", "A": "{VALUE}"}}',
    f'{{"kind": "environment", "variables": {{"A": "{VALUE}\\ud800"}}}}',
]


@pytest.mark.parametrize("body", UNREADABLE)
def test_what_is_no_json_is_refused_without_being_repeated(api: APIClient, body: str) -> None:
    answer = api.put(WANDB, body, content_type="application/json")
    assert answer.status_code == 400
    assert VALUE not in answer.content.decode()
    assert api.put(WANDB, "a: b", content_type="application/yaml").status_code == 415


@pytest.mark.parametrize("name", ["A", "a_b", "a%0A", "-a", "a" * 41])
def test_a_name_that_does_not_fit_is_refused(api: APIClient, name: str) -> None:
    answer = api.put(f"{URL}/{name}", VARIABLES, format="json")
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_secret")


def test_one_login_is_kept_for_each_registry(api: APIClient) -> None:
    api.put(f"{URL}/images", LOGIN, format="json")
    again = {**LOGIN, "registry": "registry.example.com:5000"}
    assert api.put(f"{URL}/images", again, format="json").status_code == 200
    answer = api.put(f"{URL}/others", again, format="json")
    assert "already, in secret images" in answer.json()["message"]


def test_a_team_keeps_a_bounded_number(api: APIClient, vision: Team) -> None:
    Secret.objects.bulk_create(
        Secret(team=vision, name=f"s-{number}", kind="environment")
        for number in range(team_secrets.MOST_PER_TEAM)
    )
    answer = api.put(WANDB, VARIABLES, format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_secrets")
    assert api.put(f"{URL}/s-1", VARIABLES, format="json").status_code == 200
    assert client_of(vision).get(URL).json()["items"][0]["jobs"] == []


@pytest.mark.parametrize("body", ['{"kind": "environment", "variables": {"\\ud800": "a"}}',
                                  '{"kind": "environment", "\\ud800": "a"}'])  # fmt: skip
def test_half_a_character_is_refused(api: APIClient, body: str) -> None:
    answer = api.put(WANDB, body, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")


@pytest.mark.django_db(transaction=True)
def test_two_at_once_keep_no_more_than_a_team_may(
    api: APIClient, vision: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(team_secrets, "MOST_PER_TEAM", 1)
    other = client_of(vision)
    answers = ask_at_once(
        lambda: api.put(f"{URL}/one", VARIABLES, format="json").status_code,
        lambda: other.put(f"{URL}/two", VARIABLES, format="json").status_code,
    )
    assert answers == (201, 409)
    assert [one.name for one in Secret.objects.all()] == ["one"]
