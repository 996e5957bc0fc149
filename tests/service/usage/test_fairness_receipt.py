"""Does a team read whether it was given what it was owed?"""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from autoscaler.gpu_accounts.models import ClosedHour, OwedHour, OwedSpan

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
BEGIN = datetime(2026, 11, 1, tzinfo=UTC)
MINUTE = 60_000_000


@pytest.fixture
def owed() -> None:
    """Ten hours in which team vision had work; in the last one, 14 GPU-minutes were missing."""
    for number in range(10):
        is_last = number == 9
        hour = BEGIN + number * HOUR
        ClosedHour.objects.create(hour=hour, capacities={})
        OwedHour.objects.create(
            hour=hour,
            pool="default",
            team="vision",
            working=60 * MINUTE,
            given=(53 if is_last else 60) * MINUTE,
            missing={"reclaim": 11 * MINUTE, "nodes_lost": 3 * MINUTE} if is_last else {},
        )
    at = BEGIN + 9 * HOUR
    for minutes, missing in (
        (4, {"reclaim": {"gpus": 2, "jobs": ["a1", "b2"]}}),
        (3, {"reclaim": {"gpus": 1, "jobs": ["a1"]}, "nodes_lost": {"gpus": 1, "jobs": ["b2"]}}),
    ):
        until = at + timedelta(minutes=minutes)
        OwedSpan.objects.create(
            pool="default",
            team="vision",
            guaranteed_gpus=4,
            since=at,
            until=until,
            missing=missing,
        )
        at = until


def receipt(client: APIClient, team: str = "vision", **asked: str) -> Any:
    return client.get(f"/api/v1/teams/{team}/fairness-receipt", asked)


def test_it_says_in_a_sentence_how_much_was_given_and_why_not_all(
    api: APIClient, owed: None
) -> None:
    found = receipt(api).json()
    assert found["message"] == (
        "Team vision was given what it was owed for 98.8 % of the time it had work; 14 GPU-minutes"
        " short: 11 reclaim in progress, 3 nodes lost or closed."
    )
    assert (found["working_seconds"], found["given_seconds"]) == (36_000, 35_580)
    causes = [(one["cause"], one["gpu_seconds"]) for one in found["missing"]]
    assert causes == [("reclaim", 660), ("nodes_lost", 180)]
    assert found["missing_gpu_seconds"] == sum(one["gpu_seconds"] for one in found["missing"])
    assert found["missing_gpu_seconds"] == sum(one["gpu_seconds"] for one in found["shortfalls"])
    first = found["shortfalls"][-1]
    assert (first["gpus"], first["guaranteed_gpus"], first["jobs"]) == (2, 4, ["a1", "b2"])


def test_a_cause_of_which_there_was_little_is_not_said_to_be_none(
    api: APIClient, owed: None
) -> None:
    OwedHour.objects.exclude(missing={}).update(missing={"reclaim": 11 * MINUTE, "starting": 1})
    message = receipt(api).json()["message"]
    assert message.endswith(
        "11 GPU-minutes short: 11 reclaim in progress, less than 0.1 about to start."
    )


def test_a_time_a_pool_or_a_team_without_a_shortfall_say_so(api: APIClient, owed: None) -> None:
    nine = receipt(api, until="2026-11-01T09:00Z").json()
    assert nine["message"].endswith("for all of the time it had work.")
    assert (nine["missing"], nine["shortfalls"]) == ([], [])
    other = receipt(api, pool="other").json()
    assert other["message"] == "Team vision had no work for its guarantee."


def test_shortfalls_are_a_table_for_spreadsheets(api: APIClient, owed: None) -> None:
    answer = receipt(api, format="csv")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert [(row["cause"], row["gpus"], row["jobs"]) for row in rows] == [
        ("nodes_lost", "1", "b2"),
        ("reclaim", "1", "a1"),
        ("reclaim", "2", "a1 b2"),
    ]


def test_before_an_hour_is_closed_nothing_is_known(api: APIClient) -> None:
    found = receipt(api).json()
    assert (found["since"], found["missing"], found["working_seconds"]) == (None, [], 0)


def test_other_teams_and_times_that_are_none_are_refused(api: APIClient, owed: None) -> None:
    assert receipt(api, team="language").status_code == 404
    assert receipt(api, since="cow").status_code == 400
    assert receipt(api, since="2026-11-02", until="2026-11-01").status_code == 400
