"""Are /teams/{name}/tokens as promised: which keys a team's programs have, and who says so?"""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any, Final

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient
from tenancy.access import grants
from tenancy.access.grants import Grant
from tenancy.access.keys import team_tokens, tokens
from tenancy.access.permissions import LEAD, MEMBER, VIEWER
from tenancy.models import Team, Token

from jobs.models import Job
from tests.service.access.test_roles import client, person
from tests.service.access.test_tokens import status
from tests.service.at_once import ask_at_once
from tests.service.conftest import spec

URL: Final = "/api/v1/teams/vision/tokens"


@pytest.fixture
def lead(vision: Team) -> APIClient:
    return client(person("carl", vision=LEAD))


def made(api: APIClient, name: str = "nightly", **more: Any) -> dict[str, Any]:
    answer = api.post(URL, {"name": name, **more}, format="json")
    assert answer.status_code == 201, answer.json()
    assert answer.headers["Cache-Control"] == "no-store"
    told: dict[str, Any] = answer.json()
    return told


def refused(api: APIClient, path: str = "", **said: Any) -> tuple[int, str]:
    answer = api.post(f"{URL}{path}", said, format="json")
    return answer.status_code, answer.json()["code"]


def rotated(api: APIClient, token: dict[str, Any], **more: Any) -> dict[str, Any]:
    answer = api.post(f"{URL}/{token['id']}/rotate", more, format="json")
    assert answer.status_code == 201, answer.json()
    told: dict[str, Any] = answer.json()
    return told


def days_left(token: dict[str, Any]) -> float:
    left = Token.objects.get(pk=token["id"]).expires_at - timezone.now()  # type: ignore[operator]
    return left / timedelta(days=1)


def opens(token: dict[str, Any]) -> bool:
    return status(f"Bearer {token['key']}") == 200


def listed(api: APIClient) -> list[tuple[int, str]]:
    return [(one["id"], one["state"]) for one in api.get(URL).json()["items"]]


def later(monkeypatch: pytest.MonkeyPatch, span: timedelta) -> None:
    then = timezone.now() + span
    monkeypatch.setattr(timezone, "now", lambda: then)


def test_a_lead_makes_a_token_whose_key_is_told_once(lead: APIClient) -> None:
    token = made(lead)
    assert (token["name"], token["state"], token["created_by"]) == ("nightly", "valid", "carl")
    assert 89 < days_left(token) <= 90
    assert opens(token)
    again = lead.get(URL).content.decode() + lead.get("/api/v1/teams/vision").content.decode()
    assert token["prefix"] in again
    assert token["key"] not in again


def test_revoking_counts_at_once_and_twice_is_once(lead: APIClient, vision: Team) -> None:
    token = made(lead)
    grant = Grant(team_id=vision.pk, token_id=token["id"])
    assert opens(token)
    assert grants.still_valid([grant]) == {grant}
    for _ in range(2):
        assert lead.delete(f"{URL}/{token['id']}").status_code == 204
        assert not opens(token)
    assert grants.still_valid([grant]) == set(), "streams look at this every few seconds"
    assert listed(lead) == [(token["id"], "revoked")]


def test_after_a_rotation_both_keys_open_for_the_while_that_was_said(
    lead: APIClient, vision: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    former = made(lead)
    new = rotated(lead, former, overlap_hours=3)
    assert (new["name"], new["id"] != former["id"]) == ("nightly", True)
    assert (opens(former), opens(new)) == (True, True)
    assert 89 < days_left(new) <= 90
    later(monkeypatch, timedelta(hours=3, minutes=1))
    assert (opens(former), opens(new)) == (False, True)
    assert tokens.find_valid(new["key"]) is not None
    assert grants.still_valid([Grant(team_id=vision.pk, token_id=former["id"])]) == set()


def test_a_rotation_without_overlap_revokes_the_former(lead: APIClient) -> None:
    former = made(lead)
    new = rotated(lead, former, overlap_hours=0)
    assert (opens(former), opens(new)) == (False, True)
    assert listed(lead) == [(new["id"], "valid"), (former["id"], "revoked")]


def test_a_rotation_never_makes_the_former_last_longer(lead: APIClient, vision: Team) -> None:
    soon = timezone.now() + timedelta(hours=1)
    former, _ = tokens.issue(team=vision, name="soon", expires_at=soon)
    rotated(lead, {"id": former.pk})
    former.refresh_from_db()
    assert former.expires_at == soon


def test_what_has_ended_is_not_rotated(lead: APIClient, vision: Team) -> None:
    past = timezone.now() - timedelta(1)
    expired, _ = tokens.issue(team=vision, name="old", expires_at=past)
    revoked, _ = tokens.issue(team=vision, name="leaked")
    tokens.revoke(revoked)
    for one in (expired, revoked):
        assert refused(lead, f"/{one.pk}/rotate") == (409, "token_ended")
    assert {state for _, state in listed(lead)} == {"expired", "revoked"}


def test_leads_make_what_ends_and_admins_what_they_like(lead: APIClient, admin_user: User) -> None:
    admin, longest = client(admin_user), lead.get(URL).json()["longest_days"]
    assert refused(lead, name="x", days=longest + 1) == (400, "token_lasts_too_long")
    assert refused(lead, name="x", days=None) == (400, "token_lasts_too_long")
    assert longest - 1 < days_left(made(lead, "long", days=longest)) <= longest
    forever = made(admin, "forever", days=None)
    assert forever["expires_at"] is None
    assert 89 < days_left(rotated(lead, forever)) <= 90
    assert made(admin, "longer", days=longest + 1)["expires_at"] is not None


WRONG: Final[dict[str, dict[str, Any]]] = {
    "no name": {},
    "an empty name": {"name": ""},
    "a name with a space": {"name": "my pipeline"},
    "a name of two lines": {"name": "a\nb"},
    "a name that is too long": {"name": "a" * 81},
    "no days at all": {"name": "a", "days": 0},
    "days beyond all bounds": {"name": "a", "days": 10**30},
    "an unknown scope": {"name": "a", "scopes": ["admin"]},
    "no scope of none": {"name": "a", "scopes": []},
    "one scope again and again": {"name": "a", "scopes": ["read"] * 6},
    "days in words": {"name": "a", "days": "ten"},
}


@pytest.mark.parametrize("sentence", WRONG)
def test_what_is_wrong_is_refused(lead: APIClient, sentence: str) -> None:
    assert refused(lead, **WRONG[sentence]) == (400, "invalid_request")
    assert listed(lead) == []


@pytest.mark.parametrize("hours", [-1, 721, 10**30, None, "a day"])
def test_an_overlap_has_bounds(lead: APIClient, hours: Any) -> None:
    token = made(lead)
    assert refused(lead, f"/{token['id']}/rotate", overlap_hours=hours)[0] == 400
    assert listed(lead) == [(token["id"], "valid")]


def may(token: dict[str, Any], job: Job) -> list[bool]:
    """Whether it sees the team's job, submits, steers the job, and sets a secret."""
    sender = APIClient()
    sender.credentials(HTTP_AUTHORIZATION=f"Bearer {token['key']}")
    secret = {"kind": "environment", "variables": {"A": "1"}}
    statuses = (
        sender.get(f"/api/v1/jobs/{job.id}").status_code,
        sender.post("/api/v1/jobs", spec(name=f"by-{token['id']}"), format="json").status_code,
        sender.post(f"/api/v1/jobs/{job.id}/pin").status_code,
        sender.put("/api/v1/teams/vision/secrets/a", secret, format="json").status_code,
    )
    assert set(statuses) <= {200, 201, 403}
    return [status != 403 for status in statuses]


SCOPED: Final[dict[tuple[str, ...] | None, list[bool]]] = {
    None: [True, True, True, True],
    ("read",): [True, False, False, False],
    ("submit",): [True, True, False, False],
    ("manage-jobs",): [True, False, True, False],
    ("submit", "manage-jobs"): [True, True, True, False],
}


@pytest.mark.parametrize("scopes", SCOPED)
def test_a_token_may_what_its_scopes_say_after_a_rotation_too(
    lead: APIClient, job: Job, scopes: tuple[str, ...] | None
) -> None:
    token = made(lead, scopes=scopes if scopes is None else [*scopes, scopes[0]])
    assert token["scopes"] == (None if scopes is None else sorted(scopes))
    assert may(token, job) == SCOPED[scopes]
    assert may(rotated(lead, token), job) == SCOPED[scopes]


def test_a_token_with_a_scope_of_a_later_release_opens_nothing_of_the_team(
    vision: Team, job: Job
) -> None:
    _, key = tokens.issue(team=vision, name="later", scopes=["fly"])
    sender = APIClient()
    sender.credentials(HTTP_AUTHORIZATION=f"Bearer {key}")
    assert sender.get(f"/api/v1/jobs/{job.id}").status_code == 404
    assert sender.get("/api/v1/jobs").json()["items"] == []


def test_a_name_is_free_again_when_its_token_has_ended(lead: APIClient) -> None:
    token = made(lead)
    assert refused(lead, name="nightly") == (409, "token_exists")
    lead.delete(f"{URL}/{token['id']}")
    assert made(lead)["id"] != token["id"]


def test_a_team_has_a_bounded_number_of_tokens(
    lead: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(team_tokens, "MOST_VALID", 2)
    monkeypatch.setattr(team_tokens, "MOST_ENDED", 1)
    for number in range(3):
        lead.delete(f"{URL}/{made(lead, f'early-{number}')['id']}")
    first, _ = made(lead, "a"), made(lead, "b")
    assert refused(lead, name="c") == (409, "too_many_tokens")
    assert refused(lead, f"/{first['id']}/rotate") == (409, "too_many_tokens")
    assert opens(first)
    names = [one["name"] for one in lead.get(URL).json()["items"]]
    assert names == ["a", "b", "early-2"]
    assert Token.objects.count() == 3, "what ended earlier is forgotten"


@pytest.mark.parametrize("role", [VIEWER, MEMBER])
def test_others_neither_see_nor_change_them(lead: APIClient, api: APIClient, role: str) -> None:
    token = made(lead)
    for sender in (client(person("ada", vision=role)), api):
        answers = (
            sender.get(URL),
            sender.post(URL, {"name": "mine"}, format="json"),
            sender.post(f"{URL}/{token['id']}/rotate"),
            sender.delete(f"{URL}/{token['id']}"),
        )
        assert {answer.status_code for answer in answers} == {403}
        assert "Only leads" in answers[0].json()["message"]
    assert opens(token)


def test_a_lead_above_changes_them_and_one_of_another_team_finds_nothing(
    vision: Team, language: Team
) -> None:
    robots = Team.objects.create(name="robots", parent=vision)
    token, key = tokens.issue(team=robots, name="ci")
    path = f"/api/v1/teams/robots/tokens/{token.pk}"
    other = client(person("zoe", language=LEAD))
    above = client(person("carl", vision=LEAD, language=LEAD))
    assert other.delete(path).status_code == other.post(f"{path}/rotate").status_code == 404
    assert above.delete(f"/api/v1/teams/language/tokens/{token.pk}").status_code == 404
    assert tokens.find_valid(key) is not None
    assert above.delete(path).status_code == 204
    assert above.delete(f"{URL}/{2**70}").status_code == 404


def test_the_last_use_is_noted_with_its_address_once_a_minute(
    lead: APIClient, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    committing = django_capture_on_commit_callbacks
    token = made(lead)

    def use(address: str) -> int:
        with CaptureQueriesContext(connection) as asked, committing(execute=True):
            APIClient().get(
                "/api/v1/notices",
                headers={"Authorization": f"Bearer {token['key']}"},
                REMOTE_ADDR=address,
            )
        return sum("tenancy_token" in one["sql"] for one in asked)

    def seen_from() -> str:
        return str(lead.get(URL).json()["items"][0]["last_used_from"])

    assert seen_from() == ""
    assert (use("10.1.2.3"), seen_from()) == (2, "10.1.2.3")
    assert (use("10.9.9.9"), seen_from()) == (1, "10.1.2.3")
    later(monkeypatch, timedelta(minutes=2))
    assert (use("2001:db8::7"), seen_from()) == (2, "2001:db8::/64")


def test_each_change_is_logged_without_the_key(
    lead: APIClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="tenancy.access.keys.team_tokens"):
        token = made(lead)
        new = rotated(lead, token, overlap_hours=0)
        lead.delete(f"{URL}/{new['id']}")
    said = [one.getMessage().partition(",")[2].partition(", expires")[0] for one in caplog.records]
    assert said == [
        " token nightly: made for everything",
        " token nightly: rotated, revoked.",
        " token nightly: made for everything",
        " token nightly: revoked.",
    ]
    assert {one.by for one in caplog.records} == {"carl"}  # type: ignore[attr-defined]
    logged = " ".join(str(vars(one)) for one in caplog.records)
    assert token["prefix"] in logged
    assert token["key"] not in logged
    assert new["key"] not in logged


@pytest.mark.django_db(transaction=True)
def test_of_two_who_make_the_same_token_at_once_one_does(vision: Team) -> None:
    pair = [client(person(name, vision=LEAD)) for name in ("ada", "bob")]

    def make(api: APIClient) -> int:
        return api.post(URL, {"name": "nightly"}, format="json").status_code

    assert ask_at_once(lambda: make(pair[0]), lambda: make(pair[1])) == (201, 409)
    assert Token.objects.filter(team=vision).count() == 1


@pytest.mark.django_db(transaction=True)
def test_what_is_revoked_while_it_is_rotated_stays_revoked(vision: Team) -> None:
    lead = client(person("carl", vision=LEAD))
    token = made(lead)
    path = f"{URL}/{token['id']}"
    answers = ask_at_once(
        lambda: lead.delete(path).status_code,
        lambda: client(User.objects.get(username="carl")).post(f"{path}/rotate").status_code,
    )
    assert answers == (204, 409)
    assert not opens(token)
