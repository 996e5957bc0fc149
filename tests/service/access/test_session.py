"""Is /session as promised?"""

from __future__ import annotations

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient
from tenancy.models import Membership, Team

from jobs.models import Job

URL = "/api/v1/session"
PASSWORD = "correct horse"


@pytest.fixture
def ada(vision: Team) -> User:
    user = User.objects.create_user("ada", password=PASSWORD)
    Membership.objects.create(team=vision, user=user, role=Membership.Role.LEAD)
    return user


@pytest.fixture
def browser(ada: User) -> Client:
    return Client(enforce_csrf_checks=True)


def log_in(browser: Client, password: str = PASSWORD) -> int:
    body = {"username": "ada", "password": password}
    return browser.post(URL, body, content_type="application/json").status_code


def test_a_person_logs_in_is_recognised_and_logs_out(browser: Client) -> None:
    assert browser.get(URL).status_code == 401
    assert log_in(browser) == 200
    teams = {"teams": ["vision"], "submits_for": ["vision"]}
    expected = {"user": {"username": "ada", "is_admin": False, **teams}}
    assert browser.get(URL).json()["user"] == expected["user"]
    csrf = {"X-CSRFToken": browser.cookies["csrftoken"].value}
    assert browser.delete(URL).status_code == 403
    assert browser.delete(URL, headers=csrf).status_code == 204
    assert browser.get(URL).status_code == 401


def test_a_wrong_password_and_an_unknown_name_get_the_same_answer(browser: Client) -> None:
    body = {"username": "nobody", "password": PASSWORD}
    unknown = browser.post(URL, body, content_type="application/json")
    wrong = browser.post(URL, {**body, "username": "ada", "password": "x"},
                         content_type="application/json")  # fmt: skip
    assert unknown.status_code == wrong.status_code == 401
    assert unknown.json() == wrong.json()


def test_a_form_of_a_foreign_page_cannot_log_in(browser: Client) -> None:
    answer = browser.post(URL, {"username": "ada", "password": PASSWORD})
    assert answer.status_code == 415


def test_a_session_changes_nothing_without_the_csrf_token(browser: Client, job: Job) -> None:
    log_in(browser)
    url = f"/api/v1/jobs/{job.id}/cancel"
    answer = browser.post(url, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")
    csrf = {"X-CSRFToken": browser.cookies["csrftoken"].value}
    done = browser.post(url, content_type="application/json", headers=csrf)
    assert (done.status_code, done.json()["message"]) == (202, "Cancelled by ada.")


def test_a_team_token_is_no_person(api: APIClient) -> None:
    assert api.get(URL).status_code == 401


def test_credentials_are_checked_for_their_form(browser: Client) -> None:
    answer = browser.post(URL, {"username": "ada"}, content_type="application/json")
    assert (answer.status_code, answer.json()["details"][0]["field"]) == (400, "password")


def test_another_method_is_refused(browser: Client) -> None:
    assert browser.put(URL).status_code == 405


def test_an_inactive_person_is_out(browser: Client, ada: User) -> None:
    log_in(browser)
    User.objects.filter(pk=ada.pk).update(is_active=False)
    assert browser.get(URL).status_code == 401


def test_a_program_may_knock_here_too(api: APIClient, browser: Client) -> None:
    body = {"username": "ada", "password": "wrong"}
    assert api.post(URL, body, format="json").status_code == 401


@pytest.mark.parametrize("body", ["[" * 1000 + "]" * 1000, "{", '{"username": "\\ud800"}', "[1]"])
def test_a_body_that_is_no_login_is_refused(db: None, body: str) -> None:
    answer = APIClient().post(URL, body, content_type="application/json")
    assert answer.status_code == 400
    assert set(answer.json()) == {"code", "message", "details"}


def test_a_cookie_that_the_database_cannot_take_is_refused(db: None) -> None:
    browser = Client()
    browser.cookies.load({settings.SESSION_COOKIE_NAME: "\0" * 8})
    assert browser.get(URL).status_code == 400
