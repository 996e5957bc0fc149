"""Does the command line tell who used, lent and borrowed how many GPU-hours?"""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from autoscaler.gpu_accounts.models import GpuPrice
from concertina.client import Client
from concertina.connection.team import gpu_hours
from tests.client.command_line import CommandLine
from tests.client.running_api import RunningApi
from tests.service.usage.accounts import HOUR, account, close, line

MIDNIGHT = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.fixture
def accounts(api: RunningApi) -> None:
    """A day: vision trains digits and, on what it borrows, words; language lends."""
    digits = account("digits000001", "vision", "ada", project="digits")
    words = account("words0000001", "vision", "bob")
    lines = []
    for number in range(24):
        hour = MIDNIGHT + number * HOUR
        lines += [
            line(hour, job=digits, guaranteed=4, starting=0.5),
            line(hour, job=words, borrowed=1),
            line(hour, team="language", lent=1, idle=2),
        ]
    close(lines)


def test_teams_or_the_people_of_one_are_shown_with_their_gpu_hours(
    concertina: CommandLine, accounts: None
) -> None:
    head, vision, language = concertina("gpu-hours").out.splitlines()
    assert head.split()[:4] == ["TEAM", "GUARANTEED", "BORROWED", "LENT"]
    assert vision.split()[:4] == ["vision", "96.0", "24.0", "-"]
    assert language.split()[:4] == ["language", "-", "-", "24.0"]
    GpuPrice.objects.create(pool="default", since=MIDNIGHT.date(), per_gpu_hour=Decimal("1.5"))
    head, *lines = concertina("gpu-hours", "--pool", "default").out.splitlines()
    assert head.split()[-2:] == ["COST", "CREDIT"]
    assert [one.split()[-2:] for one in lines] == [["180.00", "0.00"], ["0.00", "36.00"]]
    ending = concertina("gpu-hours", "vision")
    assert [one.split()[0] for one in ending.out.splitlines()] == ["USER", "ada", "bob"]
    assert "jobs held 120.0 GPU-hours." in ending.err


def test_what_is_asked_for_is_told_apart_and_narrowed(
    concertina: CommandLine, accounts: None
) -> None:
    def rows(*asked: str) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = concertina("gpu-hours", *asked, "-o", "json").document[
            "items"
        ]
        return items

    (row,) = rows("--by", "day,job", "--by", "label:project", "--label", "project=digits")
    assert (row["day"], row["job"], row["labels"]) == (
        *("2026-11-01", "digits000001"),
        {"project": "digits"},
    )
    days = [row["day"] for row in rows("--by", "day", "--time-zone", "Asia/Kolkata")]
    assert days == ["2026-11-01", "2026-11-02"]
    (row,) = rows("--since", "2026-11-01T06:00", "--until", "2026-11-01T08:00", "--user", "ada")
    assert row["guaranteed_gpu_hours"] == 8
    assert concertina("gpu-hours", "--by", "day,label:project").exit_code == 0


def test_lines_for_spreadsheets_and_refusals_are_as_of_other_lists(
    concertina: CommandLine, accounts: None
) -> None:
    table = concertina("gpu-hours", "--by", "user,pool", "-o", "csv").out
    found = {row["user"]: row["borrowed_gpu_hours"] for row in csv.DictReader(io.StringIO(table))}
    assert found == {"ada": "0.0", "bob": "24.0"}
    refused = concertina("gpu-hours", "--by", "cow")
    assert (refused.exit_code, "'cow' is none of team, user" in refused.err) == (3, True)
    assert concertina("gpu-hours", "--since", "cow").exit_code == 2


def test_before_any_hour_is_closed_it_says_so(concertina: CommandLine) -> None:
    assert "No hour is accounted for yet." in concertina("gpu-hours").err


def test_all_pages_are_fetched(
    api: RunningApi, token_of: dict[str, str], accounts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_hours, "_PAGE", 1)
    with Client(api.url, token_of["vision"]) as client:
        found = client.gpu_hours.read(["user"], since=MIDNIGHT, until="2026-11-02")
    assert [row["user"] for row in found["items"]] == ["ada", "bob"]
