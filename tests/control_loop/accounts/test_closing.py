"""Do hours come into the accounts as they were recorded, once, and whole or not at all?"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from control_plane import tasks
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
    PromiseSpan,
    UnseenSpan,
)

pytestmark = pytest.mark.django_db

MIDNIGHT = datetime(2026, 3, 29, tzinfo=UTC)  # of the night in which European clocks were set
NOON = MIDNIGHT + timedelta(hours=12)
GPU_HOUR = 3_600_000_000


def always() -> bool:
    return True


@pytest.fixture
def recorded() -> AccountedJob:
    """From half past ten on there are eight GPUs; from eleven to a quarter past twelve, a job."""
    account = AccountedJob.objects.create(
        job="a1", pool="default", team="vision", user="ada", name="digits", labels={"for": "mia"}
    )
    began = NOON - HOUR * 1.5
    CapacitySpan.objects.create(pool="default", gpus=8, since=began)
    for team, guaranteed in (("vision", 2), ("language", 6)):
        PromiseSpan.objects.create(
            pool="default", team=team, guaranteed_gpus=guaranteed, since=began
        )
    HeldSpan.objects.create(
        job=account,
        gpus=4,
        starting_gpus=0,
        priority=50,
        generation=1,
        since=NOON - HOUR,
        until=NOON + HOUR / 4,
        stall_seconds=36.0,
    )
    AccountsClock.objects.create(pk=1, at=NOON + HOUR)
    return account


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
    assert not list(checking.gaps(NOON))
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


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.INFO, logger="control_plane.tasks"):
        yield caplog


def test_the_nightly_check_tells_what_does_not_add_up(
    recorded: AccountedJob, logged: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("django.utils.timezone.now", lambda: NOON + HOUR)
    UnseenSpan.objects.create(since=NOON - HOUR / 2, until=NOON + HOUR / 4)
    HeldSpan.objects.create(
        job=recorded, gpus=9, starting_gpus=0, priority=0, generation=1, since=NOON + HOUR / 2
    )
    tasks.close_gpu_accounts()
    tasks.check_gpu_accounts()
    assert "2026-03-29T11: nobody looked for 1800 s." in logged.text
    assert "2026-03-29T12: nobody looked for 900 s." in logged.text
    assert "0.5000 GPU-hours were held that were not there." in logged.text
    assert "Found 3 gaps" in logged.text
    logged.clear()
    HourLine.objects.filter(hour=NOON, job=None).delete()
    DayLine.objects.all().delete()
    ClosedHour.objects.filter(hour=NOON - HOUR).delete()
    tasks.check_gpu_accounts()
    assert "12: the lines of pool default add up to" in logged.text
    assert "2026-03-29: the sums of the day are not those of its hours." in logged.text
    assert "2026-03-29T10 until 2026-03-29T12: hours are missing." in logged.text


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
