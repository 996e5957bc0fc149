"""Does somebody change their password, and nobody else?"""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from tenancy.access.keys import personal_tokens
from tenancy.models import AuditEntry

OLD, NEW = "correct horse battery", "another long password"
URL = "/api/v1/session/password"


@pytest.fixture
def ada(db: None) -> User:
    return User.objects.create_user("ada", password=OLD)


@pytest.fixture
def browser(ada: User) -> Client:
    browser = Client()
    browser.force_login(ada)
    return browser


def change(browser: Client, old: str = OLD, new: str = NEW) -> tuple[int, dict[str, str]]:
    body = {"password": old, "new_password": new}
    answer = browser.post(URL, body, content_type="application/json")
    problems = answer.json()["details"] if answer.status_code == 400 else []
    return answer.status_code, {one["field"]: one["problem"] for one in problems}


def test_other_browsers_are_signed_out_and_this_one_is_not(ada: User, browser: Client) -> None:
    other = Client()
    other.force_login(ada)
    token = personal_tokens.make(ada, "laptop", days=1, longest_days=9, scopes=["read"])[1]
    assert change(browser) == (204, {})
    assert browser.get("/api/v1/session").status_code == 200
    assert other.get("/api/v1/session").status_code == 401
    program = {"Authorization": f"Bearer {token}"}
    assert Client().get("/api/v1/jobs", headers=program).status_code == 200
    ada.refresh_from_db()
    assert ada.check_password(NEW)
    (entry,) = AuditEntry.objects.filter(operation="change_password")
    assert (entry.before, entry.after) == (None, None)


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("wrong", NEW, "password"),
        (OLD, "short", "new_password"),
        (OLD, "password1", "new_password"),
    ],
)
def test_what_is_wrong_is_named_and_changes_nothing(
    ada: User, browser: Client, old: str, new: str, field: str
) -> None:
    status, problems = change(browser, old, new)
    assert (status, list(problems)) == (400, [field])
    ada.refresh_from_db()
    assert ada.check_password(OLD)


def test_guessing_it_is_as_slow_as_signing_in(browser: Client) -> None:
    tried = [change(browser, f"guess {number}")[0] for number in range(11)]
    assert (tried[0], tried[-1]) == (400, 429)


def test_who_signs_in_elsewhere_has_none_here(ada: User) -> None:
    ada.set_unusable_password()
    ada.save()
    browser = Client()
    browser.force_login(ada)
    answer = browser.post(
        URL, {"password": "x", "new_password": NEW}, content_type="application/json"
    )
    assert (answer.status_code, answer.json()["code"]) == (409, "no_password")


def test_a_foreign_page_changes_nothing(ada: User) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(ada)
    body = {"password": OLD, "new_password": NEW}
    assert browser.post(URL, body, content_type="application/json").status_code == 403
    ada.refresh_from_db()
    assert ada.check_password(OLD)


def test_no_password_is_written_down(browser: Client) -> None:
    change(browser, "guessed wrong")
    change(browser, OLD, "short")
    change(browser)
    written = str([*AuditEntry.objects.values()])
    assert [one for one in (OLD, NEW, "guessed wrong", "'short'") if one in written] == []


def test_a_visitor_changes_nothing(db: None) -> None:
    assert change(Client())[0] == 401
