"""Is the audit log read on the command line, and taken away?"""

from __future__ import annotations

import csv
import io

import pytest
from django.contrib.auth.models import User
from tenancy.models import Membership, Team

from tests.client.command_line import CommandLine

PASSWORD = "a long password"
BY_LEAD = ("--as", "tina")


@pytest.fixture(autouse=True)
def lead(token_of: dict[str, str]) -> User:
    made = User.objects.create_user("tina", password=PASSWORD)
    Membership.objects.create(user=made, team=Team.objects.get(name="vision"), role="lead")
    return made


def test_a_lead_reads_who_changed_what(concertina: CommandLine) -> None:
    for name in ("one", "two"):
        concertina("tokens", "add", name, "--team", "vision", *BY_LEAD, stdin=PASSWORD)
    concertina("tokens", "ls")
    shown = concertina("audit", "vision", *BY_LEAD, stdin=PASSWORD)
    assert shown.exit_code == 0, shown.err
    assert [line.split()[2] for line in shown.out.splitlines()[1:]] == [
        "vision/tests",
        "tina",
        "tina",
    ]
    assert "name=two" in shown.out
    made = ("audit", *BY_LEAD, "--operation", "add_token", "--user", "tina", "--limit", "1")
    (entry,) = concertina(*made, "-o", "json", stdin=PASSWORD).document
    assert (entry["after"]["name"], entry["target"][:20]) == ("two", "teams/vision/tokens/")
    refused = ("audit", *BY_LEAD, "--outcome", "refused", "--object", "teams/vision", "-o", "csv")
    (row,) = csv.DictReader(io.StringIO(concertina(*refused, stdin=PASSWORD).out))
    assert (row["operation"], row["sender"], row["times"]) == ("list_tokens", "vision/tests", "1")
    nothing = concertina("audit", *BY_LEAD, "--since", "2999-01-01", stdin=PASSWORD)
    assert (nothing.out, nothing.err.splitlines()[-1]) == ("", "No such entries.")


def test_a_token_may_not_and_a_foreign_team_is_none(concertina: CommandLine) -> None:
    refused = concertina("audit")
    assert (refused.exit_code, "Only leads and admins" in refused.err) == (5, True)
    foreign = concertina("audit", "nobody", *BY_LEAD, stdin=PASSWORD)
    assert (foreign.exit_code, "no team 'nobody'" in foreign.err) == (4, True)
