from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.utils import timezone
from tenancy.models import Invitation, Membership, Team

from tests.client.command_line import CommandLine

PASSWORD = "a long password"


@pytest.fixture
def lead() -> User:
    made = User.objects.create_user("carl", password=PASSWORD)
    Membership.objects.create(user=made, team=Team.objects.get(name="vision"), role="lead")
    return made


def test_a_lead_adds_changes_and_removes_by_password(concertina: CommandLine, lead: User) -> None:
    User.objects.create_user("ada")
    by_lead = ("--as", "carl", "--team", "vision")
    done = concertina("members", "add", "ada", *by_lead, "--role", "viewer", stdin=PASSWORD)
    assert (done.exit_code, done.out) == (0, "ada is viewer of vision.\n"), done.err
    assert concertina("members", "change", "ada", "member", *by_lead, stdin=PASSWORD).out == (
        "ada is member of vision.\n"
    )
    lines = [line.split() for line in concertina("members", "ls").out.splitlines()]
    assert lines[1:] == [["ada", "member", "vision", "yes"], ["carl", "lead", "vision", "yes"]]
    (first, _) = concertina("members", "ls", "vision", "-o", "json").document
    assert first == {
        "name": "ada",
        "role": "member",
        "team": "vision",
        "is_active": True,
        "from_provider": False,
    }
    last = concertina("members", "remove", "carl", *by_lead, stdin=PASSWORD)
    assert (last.exit_code, "Nobody else leads" in last.err) == (3, True)
    assert concertina("members", "remove", "ada", *by_lead, stdin=PASSWORD).out == (
        "ada is removed from the team.\n"
    )
    assert not Session.objects.exists(), "nobody stays signed in"


def test_a_token_may_look_but_not_change(concertina: CommandLine) -> None:
    assert "Nobody is in it yet" in concertina("members", "ls").err
    User.objects.create_user("ada")
    refused = concertina("members", "add", "ada")
    assert (refused.exit_code, "Only leads of team vision" in refused.err) == (5, True)


def test_a_lead_makes_lists_and_revokes_links(concertina: CommandLine, lead: User) -> None:
    by_lead = ("--as", "carl", "--team", "vision")
    assert (
        "Nobody is invited"
        in concertina("members", "invitations", "vision", "--as", "carl", stdin=PASSWORD).err
    )
    made = concertina("members", "invite", *by_lead, "--role", "viewer", stdin=PASSWORD)
    assert made.exit_code == 0, made.err
    assert "/invitation#ci_" in made.out
    assert "viewer of vision" in made.err
    told = concertina(
        *("members", "invitations", "vision", "--as", "carl", "-o", "json"), stdin=PASSWORD
    ).document
    assert [(one["role"], one["invited_by"]) for one in told] == [("viewer", "carl")]
    invitations = ("members", "invitations", "vision", "--as", "carl")
    for until, state in ((timedelta(days=1), " open "), (timedelta(0), " expired ")):
        Invitation.objects.update(expires_at=timezone.now() + until)
        assert state in concertina(*invitations, stdin=PASSWORD).out
    Invitation.objects.update(expires_at=timezone.now() + timedelta(days=1))
    number = str(told[0]["id"])
    assert concertina("members", "uninvite", number, *by_lead, stdin=PASSWORD).out == (
        f"Invitation {number} is revoked.\n"
    )
    again = concertina("members", "uninvite", number, *by_lead, stdin=PASSWORD)
    assert again.exit_code != 0
