"""Does an admin set prices of GPU-hours from the command line, and does everybody read them?"""

from __future__ import annotations

import csv
import io

import pytest
from django.contrib.auth.models import User

from tests.client.command_line import CommandLine

PASSWORD = "a long password"


@pytest.fixture
def root(api: object) -> tuple[str, str]:
    User.objects.create_superuser("root", password=PASSWORD)
    return ("--as", "root")


def test_an_admin_sets_prices_and_everybody_reads_them(
    concertina: CommandLine, root: tuple[str, str]
) -> None:
    assert "No pool has a price." in concertina("price", "ls").err
    set_price = ("price", "set", "default")
    concertina(*set_price, "2.50", *root, stdin=PASSWORD)
    made = concertina(*set_price, "3", "--since", "2150-01-01", *root, "-o", "json", stdin=PASSWORD)
    assert (made.document["per_gpu_hour"], made.document["is_current"]) == (3.0, False)
    told = concertina("price", "ls").out
    assert "2.5" in told
    assert "2150-01-01" in told
    rows = csv.DictReader(io.StringIO(concertina("price", "ls", "-o", "csv").out))
    assert [row["per_gpu_hour"] for row in rows] == ["2.5", "3.0"]
    gone = concertina("price", "rm", "default", "2150-01-01", *root, stdin=PASSWORD)
    assert "is gone" in gone.err
    assert len(concertina("price", "ls", "--pool", "default", "-o", "json").document) == 1


def test_the_past_and_what_is_no_price_are_refused(
    concertina: CommandLine, root: tuple[str, str]
) -> None:
    past = ("price", "set", "default", "2", "--since", "2026-01-01", *root)
    refused = concertina(*past, stdin=PASSWORD)
    assert refused.exit_code == 3
    assert "changes what reports say" in refused.err
    assert concertina(*past, "--changes-past", stdin=PASSWORD).exit_code == 0
    assert concertina("price", "set", "default", "cow").exit_code == 2
    assert concertina("price", "set", "default", "1", "--since", "cow").exit_code == 2
    assert concertina("price", "set", "default", "1").exit_code == 5
