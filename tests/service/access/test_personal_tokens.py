"""Are /personal-tokens as promised: keys that may do what a person may, as far as scopes say?"""

from __future__ import annotations

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
from tenancy.access.keys import personal_tokens
from tenancy.access.permissions import LEAD, MEMBER
from tenancy.models import AuditEntry, Membership, PersonalToken, Team

from tests.service.access.test_roles import client, person
from tests.service.access.test_tokens import status
from tests.service.at_once import ask_at_once
from tests.service.conftest import SubmitJob, spec

URL: Final = "/api/v1/personal-tokens"
Made = dict[str, Any]


@pytest.fixture
def ada(vision: Team) -> User:
    return person("ada", vision=MEMBER)


def made(api: APIClient, name: str = "laptop", **more: Any) -> Made:
    answer = api.post(URL, {"name": name, **more}, format="json")
    assert answer.status_code == 201, answer.json()
    assert answer.headers["Cache-Control"] == "no-store"
    told: Made = answer.json()
    return told


def refused(api: APIClient, **said: Any) -> tuple[int, str]:
    answer = api.post(URL, {"name": "laptop", **said}, format="json")
    return answer.status_code, answer.json()["code"]


def with_key(token: Made) -> APIClient:
    api = APIClient()
    api.credentials(HTTP_AUTHORIZATION=f"Bearer {token['key']}")
    return api


def opens(token: Made) -> bool:
    return status(f"Bearer {token['key']}") == 200


def test_a_person_makes_one_whose_key_is_told_once(ada: User) -> None:
    token = made(client(ada))
    assert token["key"].startswith("cp_")
    assert (token["state"], token["scopes"]) == (
        "valid",
        ["manage-jobs", "manage-team", "read", "submit"],
    )
    left = PersonalToken.objects.get().expires_at - timezone.now()  # type: ignore[operator]
    assert timedelta(days=89) < left <= timedelta(days=90)
    assert opens(token)
    assert token["key"] not in client(ada).get(URL).content.decode()


def test_what_comes_with_it_is_the_persons_own(ada: User) -> None:
    """A member changes their own jobs, whether they come by browser or by key."""
    api = with_key(made(client(ada)))
    answer = api.post("/api/v1/jobs", spec(team="vision"), format="json")
    assert answer.status_code == 201, answer.json()
    assert answer.json()["submitted_by"] == "ada"
    job = f"/api/v1/jobs/{answer.json()['id']}"
    assert api.post(f"{job}/pause", {}, format="json").status_code == 202
    assert client(ada).post(f"{job}/cancel", {}, format="json").status_code == 202


def test_it_may_no_more_than_its_person(ada: User, submit: SubmitJob) -> None:
    api, others = with_key(made(client(ada))), submit()
    assert api.post(f"/api/v1/jobs/{others.id}/cancel", {}, format="json").status_code == 403
    assert api.get("/api/v1/teams/vision/tokens").status_code == 403
    Membership.objects.all().delete()
    assert api.get(f"/api/v1/jobs/{others.id}").status_code == 404


@pytest.mark.parametrize(
    ("scopes", "may"),
    [
        (["read"], set[str]()),
        (["submit"], {"submit"}),
        (["manage-jobs"], {"cancel"}),
        (["manage-team"], {"add a member", "see tokens"}),
        (["submit", "manage-jobs"], {"submit", "cancel"}),
    ],
)
def test_scopes_bound_it(vision: Team, submit: SubmitJob, scopes: list[str], may: set[str]) -> None:
    person("bob")
    api, job = with_key(made(client(person("carl", vision=LEAD)), scopes=scopes)), submit()
    assert api.get(f"/api/v1/jobs/{job.id}").status_code == 200
    tried = {
        "submit": api.post("/api/v1/jobs", spec(team="vision", name="another"), format="json"),
        "cancel": api.post(f"/api/v1/jobs/{job.id}/cancel", {}, format="json"),
        "see tokens": api.get("/api/v1/teams/vision/tokens"),
        "add a member": api.post(
            "/api/v1/teams/vision/members", {"name": "bob", "role": "viewer"}, format="json"
        ),
    }
    assert {name for name, answer in tried.items() if answer.status_code < 300} == may
    assert {answer.status_code for answer in tried.values()} <= {200, 201, 202, 403}


def test_an_admin_is_one_by_a_key_that_says_so(admin_user: User, vision: Team) -> None:
    teams = {"max_queued_jobs": 5}
    lesser = with_key(made(client(admin_user)))
    assert lesser.get("/api/v1/teams/vision/tokens").status_code == 200
    assert lesser.patch("/api/v1/teams/vision", teams, format="json").status_code == 403
    assert lesser.get("/api/v1/session").json()["user"]["is_admin"] is False
    whole = with_key(made(client(admin_user), "whole", scopes=["admin"]))
    assert whole.patch("/api/v1/teams/vision", teams, format="json").status_code == 200
    assert whole.get("/api/v1/session").json()["user"]["is_admin"] is True
    User.objects.filter(pk=admin_user.pk).update(is_superuser=False)
    assert whole.patch("/api/v1/teams/vision", teams, format="json").status_code == 403


def test_who_is_no_admin_makes_none_of_an_admin(ada: User) -> None:
    assert refused(client(ada), scopes=["admin"]) == (403, "permission_denied")
    assert not PersonalToken.objects.exists()


@pytest.mark.parametrize("days", [366, None])
def test_only_admins_make_them_for_longer(ada: User, admin_user: User, days: int | None) -> None:
    assert refused(client(ada), days=days) == (400, "token_lasts_too_long")
    assert opens(made(client(admin_user), days=days))


@pytest.mark.parametrize(
    "said", [{"name": ""}, {"name": "a b"}, {"days": 0}, {"scopes": []}, {"scopes": ["all"]}]
)
def test_what_makes_no_sense_is_refused(ada: User, said: Made) -> None:
    assert refused(client(ada), **said) == (400, "invalid_request")


def test_a_token_makes_no_other_and_revokes_only_itself(ada: User) -> None:
    one, other = made(client(ada)), made(client(ada), "desktop")
    api = with_key(one)
    assert refused(api, name="third") == (403, "permission_denied")
    assert [item["id"] for item in api.get(URL).json()["items"]] == [one["id"]]
    assert api.delete(f"{URL}/{other['id']}").status_code == 403
    assert api.delete(f"{URL}/{one['id']}").status_code == 204
    assert (opens(one), opens(other)) == (False, True)


def test_nobody_sees_or_revokes_those_of_others(ada: User) -> None:
    token = made(client(ada))
    bob = client(person("bob"))
    assert bob.get(URL).json()["items"] == []
    assert bob.delete(f"{URL}/{token['id']}").status_code == 404
    assert opens(token)


def test_a_teams_token_has_none(ada: User, api: APIClient) -> None:
    assert api.get(URL).status_code == 403
    assert refused(api) == (403, "permission_denied")


def test_a_revoked_one_and_one_of_a_closed_account_open_nothing(ada: User) -> None:
    revoked, kept = made(client(ada)), made(client(ada), "desktop")
    assert client(ada).delete(f"{URL}/{revoked['id']}").status_code == 204
    assert (opens(revoked), opens(kept)) == (False, True)
    states = [item["state"] for item in client(ada).get(URL).json()["items"]]
    assert states == ["valid", "revoked"]
    User.objects.filter(pk=ada.pk).update(is_active=False)
    assert not opens(kept)


def test_a_name_is_given_once_and_again_when_it_is_free(ada: User) -> None:
    token = made(client(ada))
    assert refused(client(ada)) == (409, "token_exists")
    assert client(ada).delete(f"{URL}/{token['id']}").status_code == 204
    assert opens(made(client(ada)))


def test_a_person_has_a_bounded_number_of_them(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(personal_tokens, "MOST_VALID", 2)
    monkeypatch.setattr(personal_tokens, "MOST_ENDED", 1)
    tokens = [made(client(ada), f"token-{number}") for number in range(2)]
    assert refused(client(ada)) == (409, "too_many_tokens")
    for token in tokens:
        client(ada).delete(f"{URL}/{token['id']}")
    made(client(ada))
    assert PersonalToken.objects.count() == 2  # it, and the one that ended last


@pytest.mark.django_db(transaction=True)
def test_those_who_ask_at_once_get_one_of_a_name(ada: User) -> None:
    def ask() -> int:
        return client(ada).post(URL, {"name": "laptop"}, format="json").status_code

    assert ask_at_once(ask, ask) == (201, 409)


def test_whoever_is_let_in_by_it_is_so_as_long_as_it_and_the_person_are(
    ada: User, vision: Team
) -> None:
    token = made(client(ada))
    grant = Grant(team_id=vision.pk, user_id=ada.pk, personal_token_id=token["id"])
    foreign = Grant(team_id=vision.pk, user_id=ada.pk + 1, personal_token_id=token["id"])
    assert grants.still_valid({grant, foreign}) == {grant}
    places = list(Membership.objects.all())
    Membership.objects.all().delete()
    assert grants.still_valid({grant}) == set()
    Membership.objects.bulk_create(places)
    assert grants.still_valid({grant}) == {grant}
    personal_tokens.revoke(PersonalToken.objects.get())
    assert grants.still_valid({grant}) == set()


def test_the_audit_log_tells_of_it_and_of_what_is_done_with_it(ada: User, admin_user: User) -> None:
    token = made(client(ada))
    with_key(token).post("/api/v1/jobs", spec(team="vision"), format="json")
    entries = list(AuditEntry.objects.order_by("pk"))
    assert [entry.operation for entry in entries] == ["add_personal_token", "submit_job"]
    assert {entry.sender for entry in entries} == {"ada"}
    assert [entry.token_prefix for entry in entries] == ["", token["prefix"]]
    assert token["key"] not in str([entry.after for entry in entries])


def test_a_request_with_it_takes_a_bounded_number_of_statements(ada: User) -> None:
    api = with_key(made(client(ada)))
    api.get("/api/v1/session")
    with CaptureQueriesContext(connection) as asked:
        assert api.get("/api/v1/session").status_code == 200
    by_browser = client(ada)
    by_browser.get("/api/v1/session")
    with CaptureQueriesContext(connection) as asked_by_browser:
        by_browser.get("/api/v1/session")
    assert len(asked) <= len(asked_by_browser)


@pytest.mark.django_db(transaction=True)
def test_its_use_is_noted(ada: User) -> None:
    with_key(made(client(ada))).get("/api/v1/session")
    used = PersonalToken.objects.get()
    assert used.last_used_at is not None
    assert used.last_used_from == "127.0.0.1"
