"""Does the command line report a month of a team, and an admin that of all?"""

from __future__ import annotations

import csv
import io
from datetime import UTC, date, datetime

import pytest
from django.contrib.auth.models import User

from autoscaler.gpu_accounts.models import GpuPrice
from tests.client.command_line import CommandLine
from tests.client.running_api import RunningApi
from tests.service.usage.accounts import account, close, line

PASSWORD = "a long password"
NOVEMBER = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.fixture
def accounts(api: RunningApi) -> None:
    """Three GPU-hours of vision, of which one was language's."""
    digits = account("digits000001", "vision", "ada", project="ocr")
    close(
        [
            line(NOVEMBER, job=digits, guaranteed=2, borrowed=1),
            line(NOVEMBER, team="language", lent=1),
        ]
    )
    GpuPrice.objects.create(pool="default", since=date(2026, 1, 1), per_gpu_hour=2)
    User.objects.create_superuser("root", password=PASSWORD)


def test_a_month_is_tables_and_two_sentences(concertina: CommandLine, accounts: None) -> None:
    told = concertina("report", "2026-11")
    for word in ("2026-10", "digits000001", "ada", "ocr", "completed"):
        assert word in told.out
    assert "6.00 in all" in told.err
    assert "had no work for its guarantee" in told.err
    found = concertina("report", "2026-11", "--team", "vision", "-o", "json").document
    assert (found["team"], found["total"]["balance"]) == ("vision", 6.0)
    rows = csv.DictReader(io.StringIO(concertina("report", "2026-11", "-o", "csv").out))
    assert [(row["part"], row["name"], row["cost"]) for row in rows] == [
        *(("total", "2026-11", "6.0"), ("before", "2026-10", "0.0"), ("pool", "default", "6.0")),
        *(("person", "ada", "6.0"), ("job", "digits000001", "6.0"), ("label", "project", "6.0")),
    ]


def test_an_admin_is_told_of_all_teams(concertina: CommandLine, accounts: None) -> None:
    asked = ("report", "2026-11", "--all-teams")
    told = concertina(*asked, "--as", "root", stdin=PASSWORD).out
    assert "language" in told
    assert "all, 2026-11" in told
    assert concertina(*asked).exit_code == 5
    assert concertina(*asked, "--team", "vision").exit_code == 2


def test_what_is_no_month_or_no_team_is_refused(concertina: CommandLine, accounts: None) -> None:
    assert concertina("report", "cow").exit_code == 2
    assert concertina("report", "--team", "nobody").exit_code == 4
    assert concertina("report", "-o", "json").document["month"]
