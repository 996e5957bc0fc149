from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from tenancy.access.keys import tokens
from tenancy.models import Membership, Team, Token

from tests.client.command_line import CommandLine

PASSWORD = "a long password"
BY_LEAD = ("--as", "tina", "--team", "vision")


@pytest.fixture(autouse=True)
def lead(token_of: dict[str, str]) -> User:
    made = User.objects.create_user("tina", password=PASSWORD)
    Membership.objects.create(user=made, team=Team.objects.get(name="vision"), role="lead")
    return made


def test_a_lead_makes_rotates_and_revokes_by_password(concertina: CommandLine) -> None:
    made = concertina(
        "tokens", "add", "nightly", *BY_LEAD, "--days", "7", "--scope", "submit", stdin=PASSWORD
    )
    assert made.exit_code == 0, made.err
    first = made.out.strip()
    assert tokens.find_valid(first) is not None
    assert "expires at" in made.err
    assert first not in made.err
    rotated = concertina(
        *("tokens", "rotate", "nightly", *BY_LEAD, "--overlap", "1", "-o", "json"), stdin=PASSWORD
    ).document
    assert tokens.find_valid(first) is not None
    assert tokens.find_valid(rotated["key"]) is not None
    unclear = concertina("tokens", "revoke", "nightly", *BY_LEAD, stdin=PASSWORD)
    assert (unclear.exit_code, str(rotated["id"]) in unclear.err) == (2, True)
    former = Token.objects.get(prefix=first[:10])
    done = concertina("tokens", "revoke", str(former.pk), *BY_LEAD, stdin=PASSWORD)
    assert (done.exit_code, done.out) == (0, f"Token {former.pk} is revoked.\n"), done.err
    assert tokens.find_valid(first) is None
    listed = concertina("tokens", "ls", "--as", "tina", stdin=PASSWORD).out.splitlines()
    assert [line.split()[1] for line in listed] == ["NAME", "nightly", "tests", "nightly"]
    assert [("submit" in line) for line in listed[1:]] == [True, False, True]
    assert [("revoked" in line) for line in listed[1:]] == [False, False, True]


def test_a_token_is_limited_to_pools_and_labels(concertina: CommandLine) -> None:
    made = concertina(
        *("tokens", "add", "ci", *BY_LEAD, "--pool", "default", "--label", "project=digits"),
        *("-o", "json"),
        stdin=PASSWORD,
    )
    assert made.exit_code == 0, made.err
    assert made.document["pools"] == ["default"]
    assert made.document["labels"] == {"project": "digits"}
    listed = concertina("tokens", "ls", "--as", "tina", stdin=PASSWORD).out
    assert "only pool default, project=digits" in " ".join(listed.split())
    wrong = concertina("tokens", "add", "x", *BY_LEAD, "--label", "project", stdin=PASSWORD)
    assert (wrong.exit_code, "--label is NAME=VALUE, not 'project'" in wrong.err) == (2, True)
    both = ("--label", "project=a", "--label", "project=b")
    twice = concertina("tokens", "add", "x", *BY_LEAD, *both, stdin=PASSWORD)
    assert (twice.exit_code, "--label project has two values" in twice.err) == (2, True)


def test_a_token_may_neither_see_nor_make_tokens(concertina: CommandLine) -> None:
    for arguments in (("ls",), ("add", "more"), ("revoke", "tests")):
        refused = concertina("tokens", *arguments)
        assert (refused.exit_code, "Only leads of team vision" in refused.err) == (5, True)


def test_what_leads_may_not_is_refused_in_words(concertina: CommandLine) -> None:
    never = concertina("tokens", "add", "x", *BY_LEAD, "--never", stdin=PASSWORD)
    assert (never.exit_code, "ask an admin" in never.err) == (3, True)
    both = concertina("tokens", "add", "x", *BY_LEAD, "--never", "--days", "3", stdin=PASSWORD)
    assert (both.exit_code, "not both" in both.err) == (2, True)
    gone = concertina("tokens", "rotate", "nobody", *BY_LEAD, stdin=PASSWORD)
    assert (gone.exit_code, "no valid token 'nobody'" in gone.err) == (4, True)
