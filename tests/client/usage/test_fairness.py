"""Does the command line tell whether a team was given what it was owed?"""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta

import pytest

from autoscaler.gpu_accounts.models import ClosedHour, OwedHour, OwedSpan
from tests.client.command_line import CommandLine
from tests.client.running_api import RunningApi

MIDNIGHT = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.fixture
def owed(api: RunningApi) -> None:
    """An hour in which two GPUs of team vision were on their way back for a minute."""
    ClosedHour.objects.create(hour=MIDNIGHT, capacities={})
    OwedHour.objects.create(
        hour=MIDNIGHT,
        pool="default",
        team="vision",
        working=3_600_000_000,
        given=3_540_000_000,
        missing={"reclaim": 120_000_000},
    )
    OwedSpan.objects.create(
        pool="default",
        team="vision",
        guaranteed_gpus=4,
        since=MIDNIGHT,
        until=MIDNIGHT + timedelta(minutes=1),
        missing={"reclaim": {"gpus": 2, "jobs": ["digits000001"]}},
    )


def test_a_receipt_is_a_sentence_with_causes_and_moments(
    concertina: CommandLine, owed: None
) -> None:
    told = concertina("fairness", "vision", "--since", "2026-11-01")
    assert "given what it was owed for 98.3 % of the time it had work" in told.err
    assert "reclaim in progress" in told.out
    assert "digits000001" in told.out
    own = concertina("fairness", "-o", "json").document
    assert (own["team"], own["missing_gpu_seconds"]) == ("vision", 120.0)
    (row,) = csv.DictReader(io.StringIO(concertina("fairness", "-o", "csv").out))
    assert (row["cause"], row["gpus"]) == ("reclaim", "2")
    assert concertina("fairness", "nobody").exit_code == 4


def test_before_any_hour_is_closed_there_is_no_receipt(concertina: CommandLine) -> None:
    assert "No hour is accounted for yet." in concertina("fairness").err
