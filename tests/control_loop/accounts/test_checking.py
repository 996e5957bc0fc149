"""Is it found when the accounts do not add up, and is nothing found when they do?"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import timedelta

import pytest
from control_plane import tasks
from django.db import transaction
from django.db.models import F
from hypothesis import given

from autoscaler.gpu_accounts import checking, closing
from autoscaler.gpu_accounts.closing import HOUR
from autoscaler.gpu_accounts.models import (
    AccountedJob,
    AccountsClock,
    CapacitySpan,
    ClosedHour,
    DayLine,
    HeldSpan,
    HourLine,
    PromiseSpan,
    TeamDay,
    UnseenSpan,
)
from tests.campaigns import examples
from tests.control_loop.accounts.noon import NOON, always
from tests.gpu_accounts.histories import SINCE, PoolHistory, histories

pytestmark = pytest.mark.django_db


@pytest.fixture
def logged(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> Iterator[pytest.LogCaptureFixture]:
    monkeypatch.setattr("django.utils.timezone.now", lambda: NOON + HOUR)
    with caplog.at_level(logging.INFO, logger="control_plane.tasks"):
        yield caplog


def alarms(logged: pytest.LogCaptureFixture) -> list[str]:
    """What admins are to look into."""
    return [one.getMessage() for one in logged.records if getattr(one, "action", "") == "alarm"]


def test_of_what_is_not_known_the_nightly_check_tells(
    recorded: AccountedJob, logged: pytest.LogCaptureFixture
) -> None:
    UnseenSpan.objects.create(since=NOON - HOUR / 2, until=NOON + HOUR / 4)
    HeldSpan.objects.create(
        job=recorded, gpus=9, starting_gpus=0, priority=0, generation=1, since=NOON + HOUR / 2
    )
    tasks.close_gpu_accounts()
    tasks.check_gpu_accounts()
    assert "2026-03-29T11: nobody looked for 1800 s." in logged.text
    assert "2026-03-29T12: nobody looked for 900 s." in logged.text
    assert "0.5000 GPU-hours were held that were not there." in logged.text
    assert "Found 0 contradictions and 3 gaps" in logged.text
    ClosedHour.objects.filter(hour=NOON - HOUR).delete()
    tasks.check_gpu_accounts()
    assert "2026-03-29T10 until 2026-03-29T12: hours are missing." in logged.text


def test_lines_and_days_that_do_not_add_up_raise_an_alarm(
    recorded: AccountedJob, logged: pytest.LogCaptureFixture
) -> None:
    closing.close_hours(has_time=always)
    tasks.check_gpu_accounts()
    assert not alarms(logged)
    HourLine.objects.filter(hour=NOON, job=None).delete()
    DayLine.objects.filter(job=recorded).update(lost=F("lost") + 1)
    ClosedHour.objects.filter(hour=NOON - HOUR).delete()
    tasks.check_gpu_accounts()
    told = alarms(logged)
    assert any("12: the lines of pool default add up to" in one for one in told)
    assert any("11: the lines of pool default add up to" in one for one in told), "of no hour"
    assert any("2026-03-29: the sums of the day are not those of its hours." in one for one in told)


def test_sums_of_teams_that_are_not_those_of_their_jobs_raise_an_alarm(
    recorded: AccountedJob, logged: pytest.LogCaptureFixture
) -> None:
    closing.close_hours(has_time=always)
    TeamDay.objects.filter(team="vision").update(stalled=F("stalled") + 1)
    tasks.check_gpu_accounts()
    assert alarms(logged) == [
        "Alarm: GPU time of 2026-03-29: the sums of the day are not those of its hours."
    ]


def test_lines_that_are_not_what_was_recorded_raise_an_alarm(
    recorded: AccountedJob, logged: pytest.LogCaptureFixture
) -> None:
    closing.close_hours(has_time=always)
    CapacitySpan.objects.update(gpus=9)
    HeldSpan.objects.update(gpus=5)
    tasks.check_gpu_accounts()
    assert (
        "Alarm: GPU time of 2026-03-29T11: jobs held 4.0000 GPU-hours of 8.0000 GPU-hours; by what"
        " was recorded, 5.0000 GPU-hours of 9.0000 GPU-hours." in alarms(logged)
    )


def test_hours_that_nobody_closes_and_a_clock_that_was_ahead_raise_an_alarm(
    recorded: AccountedJob, logged: pytest.LogCaptureFixture
) -> None:
    closing.close_hours(has_time=always)
    AccountsClock.objects.update(at=NOON + 5 * HOUR)
    tasks.check_gpu_accounts()
    assert alarms(logged) == [
        "Alarm: GPU time of now stands still until 2026-03-29T17:00: a clock was ahead.",
        "Alarm: GPU time of 2026-03-29T13 on is not closed; the log of io may say why.",
    ]


@given(histories())
@examples(60)
def test_whatever_was_recorded_the_accounts_of_it_add_up(history: PoolHistory) -> None:
    """Each of the history's moments is a minute, so it lies in up to three hours."""
    with transaction.atomic():
        write(history)
        AccountsClock.objects.create(pk=1, at=NOON + 3 * HOUR)
        closing.close_hours(has_time=always)
        found = list(checking.contradictions(NOON + 3 * HOUR))
        transaction.set_rollback(True)
    assert not found


def write(history: PoolHistory) -> None:
    """Write it down as ticks would have, but for what they never do: spans of a key that overlap.

    Whatever holds twice is held by another job.
    """

    def minutes(moment: int) -> timedelta:
        return timedelta(minutes=moment - SINCE, microseconds=moment % 7)

    CapacitySpan.objects.create(pool="default", gpus=0, since=NOON - HOUR, until=NOON + HOUR)
    for number, one in enumerate(history.held):
        account = AccountedJob.objects.create(
            job=f"j{number}", pool="default", team=one.team, user="ada", name="digits"
        )
        HeldSpan.objects.create(
            job=account,
            gpus=one.gpus,
            starting_gpus=min(one.starting_gpus, one.gpus),
            priority=one.priority,
            generation=1,
            since=NOON + minutes(one.since),
            until=NOON + minutes(one.until),
            stall_seconds=one.stall,
            lost_gpu_seconds=one.lost,
        )
    for capacity in history.capacities:
        CapacitySpan.objects.create(
            pool="default",
            gpus=capacity.gpus,
            since=NOON + minutes(capacity.since),
            until=NOON + minutes(capacity.until),
        )
    for quota in history.quotas:
        PromiseSpan.objects.create(
            pool="default",
            team=quota.team,
            parent=quota.parent,
            guaranteed_gpus=quota.guaranteed,
            limit_gpus=quota.limit,
            lending_limit_gpus=quota.lending_limit,
            since=NOON + minutes(quota.since),
            until=NOON + minutes(quota.until),
        )
