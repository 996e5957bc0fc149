"""Does a link bring in one person, once, as long as who made it may still give the role?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient
from tenancy.access.invitations import MOST_OPEN
from tenancy.models import AuditEntry, Invitation, Membership, Team
from webhooks.mail_server import MailEncryption, MailServer

from tests.service.access.test_roles import client, person
from tests.service.at_once import ask_at_once
from tests.service.webhooks.test_mail import Mailbox, Server

URL = "/api/v1/teams/vision/invitations"
NEW = {"username": "nora", "password": "correct horse battery"}


@pytest.fixture
def lead(vision: Team) -> APIClient:
    return client(person("lena", vision="lead"))


@pytest.fixture
def mailbox(settings: Settings) -> Iterator[Mailbox]:
    """Of a mail server that this installation has."""
    made = Mailbox()
    server = Server(made)
    server.start()
    told = MailServer(
        host="127.0.0.1",
        port=server.port,
        encryption=MailEncryption.NONE,
        sender="concertina@example.com",
    )
    settings.CONCERTINA = replace(django_settings.CONCERTINA, mail=told)
    yield made
    server.stop()


def invited(lead: APIClient, role: str = "member", **more: str) -> tuple[dict[str, Any], str]:
    answer = lead.post(URL, {"role": role, **more}, format="json")
    assert answer.status_code == 201, answer.json()
    assert answer["Cache-Control"] == "no-store"
    return answer.json(), answer.json()["link"].partition("#")[2]


def asked(who: Any, what: str, key: str, **more: str) -> Any:
    address, told = f"/api/v1/invitations:{what}", {"key": key, **more}
    return who.post(address, told, content_type="application/json")


def browser(user: User) -> Client:
    made = Client()
    made.force_login(user)
    return made


def test_a_person_with_an_account_accepts_once(lead: APIClient, vision: Team) -> None:
    made, key = invited(lead)
    assert not Invitation.objects.filter(digest__contains=key).exists()
    assert key not in str(lead.get(URL).json())
    ada, eve = (browser(User.objects.create_user(name)) for name in ("ada", "eve"))
    told = asked(Client(), "look-up", key).json()
    assert (told["team"], told["role"], told["invited_by"]) == ("vision", "member", "lena")
    assert asked(ada, "accept", key).json() == {"team": "vision", "role": "member"}
    assert Membership.objects.get(user__username="ada").role == "member"
    late = asked(eve, "accept", key)
    assert (late.status_code, late.json()["code"]) == (404, "not_found")
    assert lead.delete(f"{URL}/{made['id']}").status_code == 404
    (row,) = lead.get(URL).json()["items"]
    assert row["accepted_by"] == "ada"
    entries = AuditEntry.objects.filter(outcome="done").order_by("pk")
    assert [(one.operation, one.sender) for one in entries] == [
        ("invite_member", "lena"),
        ("accept_invitation", "ada"),
    ]
    assert entries[1].team_id == vision.pk


def test_somebody_without_an_account_makes_one_and_is_logged_in(lead: APIClient) -> None:
    _, key = invited(lead, "viewer")
    visitor = Client()
    weak = asked(visitor, "join", key, username="nora", password="short")
    assert (weak.status_code, weak.json()["details"][0]["field"]) == (400, "password")
    taken = asked(visitor, "join", key, username="LENA", password=NEW["password"])
    assert (taken.status_code, taken.json()["code"]) == (409, "name_taken")
    assert asked(visitor, "join", key, **NEW).status_code == 201
    assert visitor.get("/api/v1/session").json()["user"]["teams"] == ["vision"]
    again = asked(Client(), "join", key, username="other", password=NEW["password"])
    assert again.status_code == 404
    assert not User.objects.filter(username="other").exists()


def test_where_people_sign_in_elsewhere_nobody_makes_an_account(
    lead: APIClient, settings: Settings
) -> None:
    _, key = invited(lead)
    settings.CONCERTINA = replace(django_settings.CONCERTINA, invited_make_accounts=False)
    assert asked(Client(), "look-up", key).json()["makes_accounts"] is False
    refused = asked(Client(), "join", key, **NEW)
    assert (refused.status_code, refused.json()["code"]) == (403, "no_new_accounts")


def _is_revoked(lead: APIClient) -> None:
    assert lead.delete(f"{URL}/{Invitation.objects.get().pk}").status_code == 204


def _has_expired(_: APIClient) -> None:
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))


def _lead_is_gone(_: APIClient) -> None:
    Membership.objects.filter(user__username="lena").delete()


def _lead_is_off(_: APIClient) -> None:
    User.objects.filter(username="lena").update(is_active=False)


@pytest.mark.parametrize("then", [_is_revoked, _has_expired, _lead_is_gone, _lead_is_off])
def test_a_link_ends(then: Any, lead: APIClient) -> None:
    _, key = invited(lead)
    then(lead)
    ada = browser(User.objects.create_user("ada"))
    assert asked(Client(), "look-up", key).status_code == 404
    assert asked(ada, "accept", key).status_code == 404
    assert asked(Client(), "join", key, **NEW).status_code == 404
    assert not User.objects.filter(username="nora").exists()


def test_who_is_in_the_team_leaves_the_link_to_others(lead: APIClient, vision: Team) -> None:
    _, key = invited(lead)
    answer = asked(browser(person("ada", vision="viewer")), "accept", key)
    assert (answer.status_code, answer.json()["code"]) == (409, "already_member")
    assert asked(Client(), "look-up", key).status_code == 200


def test_a_team_has_so_many_open_ones(lead: APIClient, api: APIClient) -> None:
    for _ in range(MOST_OPEN):
        invited(lead)
    answer = lead.post(URL, {"role": "member"}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_invitations")
    assert api.post(URL, {"role": "member"}, format="json").status_code == 403  # a token


def test_a_mail_brings_the_link(lead: APIClient, mailbox: Mailbox) -> None:
    made, _ = invited(lead, mail="ada@example.com")
    assert (made["is_mailed"], made["mail_problem"]) == (True, "")
    (mail,) = mailbox.mails
    assert (mail["To"], mail["Subject"]) == ("ada@example.com", "lena invites you to team vision")
    assert made["link"] in mail.get_content()
    mailbox.answer = "451 later"
    made, key = invited(lead, mail="ada@example.com")
    assert not made["is_mailed"]
    assert "Pass the link on yourself" in made["mail_problem"]
    assert asked(Client(), "look-up", key).status_code == 200
    for wrong in ("ada", "a@b\nBcc: c@d", "ada@example.com, eve@example.com", "ä@example.com"):
        assert lead.post(URL, {"role": "member", "mail": wrong}, format="json").status_code == 400


def test_without_a_mail_server_the_lead_passes_the_link_on(lead: APIClient) -> None:
    made, _ = invited(lead, mail="ada@example.com")
    assert (made["is_mailed"], "sends no mail" in made["mail_problem"]) == (False, True)


def test_keys_are_not_tried_for_long(lead: APIClient) -> None:
    for number in range(60):
        assert asked(Client(), "look-up", "ci_" + f"{number:043}").status_code == 404
    assert asked(Client(), "look-up", "ci_" + "x" * 43).status_code == 429


@pytest.mark.parametrize(
    "name", ["\uff2c\uff25\uff2e\uff21", "l\u0435na", "..", ".", "-rf", "_", "vision/ci", "le na"]
)
def test_nobody_takes_a_name_that_looks_like_another_or_cannot_be_written(
    lead: APIClient, name: str
) -> None:
    _, key = invited(lead)
    answer = asked(Client(), "join", key, username=name, password=NEW["password"])
    assert (answer.status_code, answer.json()["details"][0]["field"]) == (400, "username")
    assert User.objects.count() == 1


@pytest.mark.parametrize(
    "wrong",
    [
        "root,postmaster@example.com",
        "a:b;@example.com",
        "<root>@example.com",
        '"a@example.com',
        "(a)@example.com",
        '..:=(,"@ba--',
        "(b=):@a.-a.",
        "a@example..com",
    ],
)
def test_a_mail_goes_to_one_address(wrong: str, lead: APIClient, mailbox: Mailbox) -> None:
    answer = lead.post(URL, {"role": "member", "mail": wrong}, format="json")
    assert (answer.status_code, answer.json()["details"][0]["field"]) == (400, "mail")
    assert not Invitation.objects.exists()
    assert mailbox.mails == []


@pytest.mark.django_db(transaction=True)
def test_of_two_who_join_at_once_under_names_alike_one_does(lead: APIClient) -> None:
    keys = [invited(lead)[1] for _ in range(2)]

    def join(name: str, key: str) -> int:
        return asked(Client(), "join", key, username=name, password=NEW["password"]).status_code

    answers = ask_at_once(lambda: join("nora", keys[0]), lambda: join("Nora", keys[1]))
    assert answers == (201, 409)
    assert User.objects.filter(username__iexact="nora").count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_who_accept_at_once_one_is_in(lead: APIClient) -> None:
    _, key = invited(lead)
    pair = [browser(User.objects.create_user(name)) for name in ("ada", "eve")]
    first, second = (
        partial(lambda who: asked(who, "accept", key).status_code, one) for one in pair
    )
    assert ask_at_once(first, second) == (200, 404)
    assert Membership.objects.filter(role="member").count() == 1


@pytest.mark.django_db(transaction=True)
def test_nobody_comes_in_while_the_lead_is_taken_out(lead: APIClient, vision: Team) -> None:
    """Whoever takes them out holds the team, and whatever goes with it, such as invitations."""
    _, key = invited(lead)
    ada = browser(User.objects.create_user("ada"))

    def hold() -> int:
        return Team.objects.select_for_update(no_key=True).get(pk=vision.pk).pk

    def take_out() -> None:
        Invitation.objects.select_for_update().get()
        Membership.objects.filter(user__username="lena").delete()

    answers = ask_at_once(hold, lambda: asked(ada, "accept", key).status_code, meanwhile=take_out)
    assert answers == (vision.pk, 404)
    assert not Membership.objects.exists()


def test_a_list_takes_a_bounded_number_of_statements(lead: APIClient) -> None:
    invited(lead)
    with CaptureQueriesContext(connection) as of_one:
        lead.get(URL)
    for _ in range(5):
        invited(lead)
    with CaptureQueriesContext(connection) as of_many:
        assert len(lead.get(URL).json()["items"]) == 6
    assert len(of_many) == len(of_one)
