"""Do hours come into the accounts as they were recorded, once, and whole or not at all?"""

from __future__ import annotations

from datetime import date, timedelta
from itertools import count
from typing import Any

import pytest
from control_plane.database.batch_deletion import Eraser
from django.db import connection
from django.db.models import F, Sum

from autoscaler.gpu_accounts import checking, closing, retention
from autoscaler.gpu_accounts.closing import HOUR
from autoscaler.gpu_accounts.models import (
    AccountedJob,
    AccountsClock,
    CapacitySpan,
    ClosedHour,
    DayLine,
    HeldSpan,
    HourLine,
)
from tests.control_loop.accounts.noon import GPU_HOUR, MIDNIGHT, NOON, always

pytestmark = pytest.mark.django_db


def lines() -> list[dict[str, Any]]:
    """All of them, but for their numbers."""
    rows = HourLine.objects.order_by("hour", "owner__team", "owner__user")
    names = ("hour", "owner__team", "owner__user", "job__job", *HourLine.AMOUNTS)
    return [*rows.values(*names)]


def test_an_hour_has_a_line_for_each_job_and_for_each_team_with_a_rest(
    recorded: AccountedJob,
) -> None:
    assert closing.close_hours(has_time=always) == 3
    assert [hour.hour for hour in ClosedHour.objects.order_by("hour")] == [
        NOON - 2 * HOUR,
        NOON - HOUR,
        NOON,
    ]
    held = HourLine.objects.get(job=recorded, hour=NOON - HOUR)
    assert (held.guaranteed, held.borrowed) == (2 * GPU_HOUR, 2 * GPU_HOUR)
    assert (held.starting, held.stalled) == (0, 4 * GPU_HOUR // 100)
    rest = HourLine.objects.get(job=None, hour=NOON - HOUR)
    assert (rest.owner.team, rest.lent, rest.idle) == ("language", 2 * GPU_HOUR, 4 * GPU_HOUR)
    assert HourLine.objects.get(job=recorded, hour=NOON).guaranteed == GPU_HOUR / 2
    day = DayLine.objects.get(job=recorded)
    assert (day.day, day.guaranteed, day.lost) == (date(2026, 3, 29), 2.5 * GPU_HOUR, 0)
    assert not list(checking.contradictions(NOON + HOUR))
    all_of_it = F("guaranteed") + F("borrowed") + F("reserved") + F("idle")
    assert DayLine.objects.aggregate(all=Sum(all_of_it))["all"] == 2.5 * 8 * GPU_HOUR


def test_an_hour_is_closed_once_a_tick_has_looked_after_it(recorded: AccountedJob) -> None:
    AccountsClock.objects.update(at=NOON + HOUR - timedelta(microseconds=1))
    assert closing.close_hours(has_time=always) == 2
    assert closing.close_hours(has_time=always) == 0
    AccountsClock.objects.update(at=NOON + HOUR)
    assert closing.close_hours(has_time=always) == 1


def test_to_close_an_hour_again_makes_the_same_lines(recorded: AccountedJob) -> None:
    closing.close_hours(has_time=always)
    before, days = lines(), DayLine.objects.count()
    for hour in (NOON, NOON - HOUR):
        closing.close_hour(hour)
    assert lines() == before
    assert DayLine.objects.count() == days


class Killed(BaseException):
    """The process ended."""


@pytest.mark.django_db(transaction=True)
def test_whoever_is_killed_at_any_statement_leaves_an_hour_whole_or_not_at_all(
    recorded: AccountedJob,
) -> None:
    closing.close_hour(NOON - HOUR)
    whole = lines()
    for model in (HourLine, DayLine, ClosedHour):
        model.objects.all().delete()

    def killing_at(number: int) -> Any:
        left = iter(range(number))

        def execute(run: Any, *asked: Any) -> Any:
            if next(left, None) is None:
                raise Killed
            return run(*asked)

        return execute

    for number in count():
        try:
            with connection.execute_wrapper(killing_at(number)):
                closing.close_hour(NOON - HOUR)
        except Killed:
            assert (lines(), ClosedHour.objects.count()) == ([], 0)
        else:
            break
    assert number > 5
    assert lines() == whole


def test_days_are_in_utc_whatever_clocks_are_set_to(recorded: AccountedJob) -> None:
    """The night in which an hour is missing, or there twice, elsewhere, has 24 here."""
    CapacitySpan.objects.update(since=MIDNIGHT - HOUR)
    AccountsClock.objects.update(at=MIDNIGHT + 25 * HOUR)
    assert closing.close_hours(has_time=always) == 26
    all_of_it = F("guaranteed") + F("borrowed") + F("reserved") + F("idle")
    sums = DayLine.objects.values("day").annotate(all=Sum(all_of_it)).order_by("day")
    assert [row["all"] for row in sums] == [8 * GPU_HOUR, 24 * 8 * GPU_HOUR, 8 * GPU_HOUR]


def test_recordings_are_forgotten_once_they_are_accounted_for(recorded: AccountedJob) -> None:
    erase = Eraser(seconds=10.0)
    assert retention.delete_old(erase=erase) == {}, "nothing is closed"
    closing.close_hours(has_time=always)
    assert not any(retention.delete_old(erase=erase).values())
    ClosedHour.objects.create(hour=NOON + retention.KEPT + HOUR, capacities={})
    assert sum(retention.delete_old(erase=erase).values()) == 1
    assert not HeldSpan.objects.exists()
    assert CapacitySpan.objects.filter(until=None).exists()
    assert HourLine.objects.exists()


def test_what_a_job_reports_of_itself_never_keeps_an_hour_from_being_closed(
    recorded: AccountedJob,
) -> None:
    HeldSpan.objects.update(lost_gpu_seconds=1e300, stall_seconds=1e300)
    assert closing.close_hours(has_time=always) == 3
    assert DayLine.objects.get(job=recorded).lost > 0
    assert not list(checking.contradictions(NOON + HOUR))
