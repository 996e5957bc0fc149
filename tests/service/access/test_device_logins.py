"""Does a command line get a token of whoever says yes, once, and of nobody else?"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient
from tenancy.access.keys import device_logins
from tenancy.access.permissions import MEMBER
from tenancy.buckets import LocalBuckets
from tenancy.models import AuditEntry, DeviceLogin, PersonalToken, Team

from tests.service.access.test_roles import client, person
from tests.service.access.test_tokens import status
from tests.service.at_once import ask_at_once

URL: Final = "/api/v1/device-logins"
ELSEWHERE: Final = "192.0.2.7"
Codes = dict[str, Any]


@pytest.fixture(autouse=True)
def frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Buckets whose time stands still."""
    made = LocalBuckets(lambda: 0.0)
    monkeypatch.setattr(device_logins, "buckets", lambda: made)


@pytest.fixture
def ada(vision: Team) -> User:
    return person("ada", vision=MEMBER)


def asked(verb: str, api: APIClient | None = None, **said: Any) -> tuple[int, Any]:
    answer = (api or APIClient()).post(f"{URL}{verb}", said, format="json", REMOTE_ADDR=ELSEWHERE)
    return answer.status_code, answer.json() if answer.content else None


def started(**said: Any) -> Codes:
    answer = asked("", name="laptop", **said)
    assert answer[0] == 201, answer
    told: Codes = answer[1]
    return told


def refused(answer: tuple[int, Any]) -> tuple[int, str]:
    return answer[0], answer[1]["code"]


def by_long(verb: str, codes: Codes) -> tuple[int, Any]:
    return asked(verb, device_code=codes["device_code"])


def by_short(verb: str, who: User, codes: Codes) -> tuple[int, Any]:
    answer = client(who).post(f"{URL}{verb}", {"user_code": codes["user_code"]}, format="json")
    return answer.status_code, answer.json() if answer.content else None


def test_whoever_says_yes_gives_it_a_token_of_their_own_once(ada: User) -> None:
    codes = started(scopes=["read"], days=3)
    assert by_long(":poll", codes) == (200, {"state": "pending"})
    assert refused(by_long(":redeem", codes)) == (409, "authorization_pending")
    assert by_short(":confirm", ada, codes) == (204, None)
    assert by_long(":poll", codes) == (200, {"state": "confirmed"})
    number, token = by_long(":redeem", codes)
    assert (number, token["name"], token["scopes"]) == (201, "laptop", ["read"])
    assert status(f"Bearer {token['key']}") == 200
    made = PersonalToken.objects.get()
    assert made.person == ada
    assert made.expires_at is not None
    assert made.expires_at < timezone.now() + timedelta(days=3)
    assert refused(by_long(":redeem", codes)) == (409, "expired_token")
    assert refused(by_long(":poll", codes)) == (409, "expired_token")
    assert not DeviceLogin.objects.exists()


def test_what_is_asked_is_shown_with_where_it_is_asked_from(ada: User) -> None:
    codes = started(scopes=["submit", "read"])
    _, told = by_short(":look-up", ada, codes)
    assert (told["name"], told["scopes"], told["days"]) == ("laptop", ["read", "submit"], 90)
    assert (told["address"], told["is_your_address"], told["replaces"]) == (ELSEWHERE, False, False)
    typed = codes["user_code"].lower().replace("-", " ")
    assert by_short(":look-up", ada, {"user_code": typed})[1] == told


def test_a_no_is_told_and_is_the_last_word(ada: User) -> None:
    codes = started()
    assert by_short(":refuse", ada, codes) == (204, None)
    assert by_long(":poll", codes) == (200, {"state": "refused"})
    assert refused(by_short(":confirm", ada, codes)) == (404, "not_found")
    assert refused(by_long(":redeem", codes)) == (409, "expired_token")
    assert not PersonalToken.objects.exists()


def test_a_yes_is_the_last_word_as_well(ada: User) -> None:
    codes, bob = started(), person("bob")
    by_short(":confirm", ada, codes)
    assert refused(by_short(":look-up", bob, codes)) == (404, "not_found")
    assert refused(by_short(":confirm", bob, codes)) == (404, "not_found")
    by_long(":redeem", codes)
    assert PersonalToken.objects.get().person == ada


def test_a_token_of_the_same_name_is_replaced(ada: User) -> None:
    keys = []
    for has_former in (False, True):
        codes = started()
        assert by_short(":look-up", ada, codes)[1]["replaces"] is has_former
        by_short(":confirm", ada, codes)
        keys.append(by_long(":redeem", codes)[1]["key"])
    assert [status(f"Bearer {key}") for key in keys] == [401, 200]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"scopes": ["admin"]}, (403, "permission_denied")),
        ({"days": 366}, (400, "token_lasts_too_long")),
        ({"days": None}, (400, "token_lasts_too_long")),
    ],
)
def test_nobody_gives_what_they_may_not_have(
    ada: User, admin_user: User, said: dict[str, Any], expected: tuple[int, str]
) -> None:
    codes = started(**said)
    assert refused(by_short(":confirm", ada, codes)) == expected
    assert by_short(":confirm", admin_user, codes)[0] == 204
    User.objects.filter(pk=admin_user.pk).update(is_superuser=False)
    assert refused(by_long(":redeem", codes)) == expected  # they have lost it since
    User.objects.filter(pk=admin_user.pk).update(is_superuser=True, is_active=False)
    assert refused(by_long(":redeem", codes)) == (409, "expired_token")
    assert not PersonalToken.objects.exists()


def test_only_a_persons_browser_says_yes(ada: User, api: APIClient) -> None:
    codes = started()
    by_short(":confirm", ada, codes)
    key = by_long(":redeem", codes)[1]["key"]
    by_key = APIClient()
    by_key.credentials(HTTP_AUTHORIZATION=f"Bearer {key}")
    other = started()["user_code"]
    for verb in (":look-up", ":confirm", ":refuse"):
        assert asked(verb, by_key, user_code=other)[0] == 403
        assert asked(verb, api, user_code=other)[0] == 403
        assert asked(verb, user_code=other)[0] == 401
    strict = APIClient(enforce_csrf_checks=True)
    strict.force_login(ada)
    assert asked(":confirm", strict, user_code=other)[0] == 403


def test_codes_are_short_lived(ada: User) -> None:
    codes = started()
    confirmed = started()
    by_short(":confirm", ada, confirmed)
    DeviceLogin.objects.update(expires_at=timezone.now())
    assert refused(by_short(":confirm", ada, codes)) == (404, "not_found")
    assert refused(by_long(":poll", codes)) == (409, "expired_token")
    assert refused(by_long(":redeem", confirmed)) == (409, "expired_token")
    started()
    assert DeviceLogin.objects.count() == 1  # those are forgotten


def test_only_digests_of_codes_are_kept_and_no_code_is_logged(ada: User) -> None:
    codes = started()
    by_short(":confirm", ada, codes)
    row = DeviceLogin.objects.values().get()
    _, token = by_long(":redeem", codes)
    entries = list(AuditEntry.objects.values().order_by("pk"))
    told = f"{row} {entries}"
    secrets = [codes["device_code"], codes["user_code"], codes["user_code"].replace("-", "")]
    assert [secret for secret in [*secrets, token["key"]] if secret in told] == []
    assert [(one["operation"], one["sender"]) for one in entries][1:] == [
        ("confirm_device_login", "ada"),
        ("redeem_device_login", "ada"),
    ]
    assert entries[0]["operation"] == "start_device_login"


def test_as_many_wait_as_may(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_logins, "MOST_OF_ADDRESS", 2)
    monkeypatch.setattr(device_logins, "MOST", 3)
    for _ in range(2):
        started()
    assert refused(asked("", name="laptop")) == (429, "too_many_requests")
    somewhere = APIClient()
    said = {"name": "laptop"}
    assert [somewhere.post(URL, said, format="json").status_code for _ in range(2)] == [201, 429]
    assert DeviceLogin.objects.count() == 3


def test_who_polls_too_often_is_told_to_slow_down(ada: User) -> None:
    codes, other = started(), started()
    answers = [by_long(":poll", codes) for _ in range(4)]
    assert [answer[0] for answer in answers] == [200, 200, 200, 429]
    assert answers[-1][1]["code"] == "slow_down"
    assert by_long(":poll", other)[0] == 200


def test_a_poll_is_one_statement(db: None) -> None:
    codes = started()
    with CaptureQueriesContext(connection) as statements:
        by_long(":poll", codes)
    assert len(statements) == 1


def test_guesses_of_a_person_are_bounded(ada: User) -> None:
    wrong = {"user_code": "BBBB-BBBB"}
    answers = [by_short(":look-up", ada, wrong)[0] for _ in range(21)]
    assert answers == [404] * 20 + [429]
    right = started()
    assert refused(by_short(":confirm", ada, right)) == (429, "too_many_requests")
    assert by_short(":confirm", person("bob"), right)[0] == 204


@pytest.mark.parametrize(
    ("verb", "said"),
    [
        ("", {"name": ""}),
        ("", {"name": "laptop", "scopes": ["all"]}),
        (":poll", {"device_code": "cd_short"}),
        (":redeem", {"device_code": "cd_" + "ü" * 43}),
    ],
)
def test_what_makes_no_sense_is_refused(db: None, verb: str, said: dict[str, Any]) -> None:
    assert refused(asked(verb, **said)) == (400, "invalid_request")


@pytest.mark.django_db(transaction=True)
def test_those_who_redeem_at_once_get_one(ada: User) -> None:
    codes = started()
    by_short(":confirm", ada, codes)

    def redeem() -> int:
        return by_long(":redeem", codes)[0]

    assert ask_at_once(redeem, redeem) == (201, 409)
    assert PersonalToken.objects.count() == 1
