"""When is a schedule due? Once at each of its times, in whatever zone, whatever clocks do."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from schedules import due_times
from schedules.due_times import UnknownZone, first_after
from schedules.errors import BadCron

BERLIN = "Europe/Berlin"
ZONES = (
    *("UTC", BERLIN, "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Africa/Cairo"),
    *("Asia/Beirut", "America/Sao_Paulo", "Pacific/Apia", "Atlantic/Azores", "America/Havana"),
)


def fields() -> st.SearchStrategy[str]:
    minutes = st.one_of(
        st.integers(0, 59).map(str),
        st.sampled_from(["*/5", "*/15", "0,30", "7-59/20", "59", "0"]),
    )
    hours = st.one_of(
        st.integers(0, 23).map(str), st.sampled_from(["*", "*/2", "0-3", "1,2,3", "23,0"])
    )
    days = st.sampled_from(["*", "1", "L", "LW", "28-31", "*/2", "31"])
    months = st.sampled_from(["*", "3", "10", "3,10,11", "JAN", "2"])
    weekdays = st.sampled_from(["*", "0", "7", "SUN", "1-5", "5L", "MON#2"])
    return st.tuples(minutes, hours, days, months, weekdays).map(" ".join)


@given(
    cron=fields(),
    zone=st.sampled_from(ZONES),
    after=st.datetimes(datetime(2010, 1, 1), datetime(2030, 1, 1)),  # noqa: DTZ001 - made aware
)
@example(cron="30 1 * * *", zone=BERLIN, after=datetime(2026, 10, 25, 0, 45))  # noqa: DTZ001
@example(cron="30 2 * * *", zone=BERLIN, after=datetime(2026, 10, 25, 1, 10))  # noqa: DTZ001
@example(cron="*/5 * * * *", zone="Australia/Lord_Howe", after=datetime(2026, 4, 4, 14))  # noqa: DTZ001
@example(cron="0 0 * * *", zone="Africa/Cairo", after=datetime(2026, 4, 23, 12))  # noqa: DTZ001
@example(cron="*/15 0-3 * * *", zone="America/Havana", after=datetime(2026, 11, 1, 3))  # noqa: DTZ001
def test_times_are_later_than_asked_and_each_later_than_the_one_before(
    cron: str, zone: str, after: datetime
) -> None:
    moment = after.replace(tzinfo=UTC)
    found = [*islice(due_times.iterate(moment, cron, zone), 12)]
    assert all(earlier < later for earlier, later in pairwise([moment, *found]))
    assert all(one.tzinfo is UTC and one.second == one.microsecond == 0 for one in found)


@given(
    cron=fields(),
    zone=st.sampled_from(ZONES),
    after=st.datetimes(datetime(2024, 1, 1), datetime(2028, 1, 1)),  # noqa: DTZ001 - made aware
)
@example(cron="*/15 1-2 * * *", zone=BERLIN, after=datetime(2026, 10, 25, 0, 20))  # noqa: DTZ001
def test_who_asks_again_from_each_time_misses_none_and_gets_none_twice(
    cron: str, zone: str, after: datetime
) -> None:
    moment = after.replace(tzinfo=UTC)
    at_once = [*islice(due_times.iterate(moment, cron, zone), 8)]
    step_by_step, last = [], moment
    for _ in at_once:
        following = first_after(last, cron, zone)
        assert following is not None
        step_by_step.append(following)
        last = following
    assert step_by_step == at_once


def local(*parts: int, fold: int = 0) -> datetime:
    return datetime(*parts, tzinfo=ZoneInfo(BERLIN), fold=fold)  # type: ignore[misc,arg-type]


@pytest.mark.parametrize(
    ("cron", "after", "expected"),
    [
        # Autumn: two o'clock comes twice. What is due once a day is due in the first.
        ("30 2 * * *", local(2026, 10, 25, 1), local(2026, 10, 25, 2, 30)),
        ("30 2 * * *", local(2026, 10, 25, 2, 30), local(2026, 10, 26, 2, 30)),
        ("30 2 * * *", local(2026, 10, 25, 2, 10, fold=1), local(2026, 10, 26, 2, 30)),
        # What follows the time that passes is due in both.
        ("*/30 2 * * *", local(2026, 10, 25, 2, 30), local(2026, 10, 25, 2, fold=1)),
        ("0 * * * *", local(2026, 10, 25, 2), local(2026, 10, 25, 2, fold=1)),
        # Spring: there is no half past two; it is due when the gap is over.
        ("30 2 * * *", local(2026, 3, 29, 1), local(2026, 3, 29, 3)),
        ("30 2 * * *", local(2026, 3, 29, 3), local(2026, 3, 30, 2, 30)),
    ],
)
def test_clocks_that_change(cron: str, after: datetime, expected: datetime) -> None:
    assert first_after(after, cron, BERLIN) == expected.astimezone(UTC)


def test_a_time_is_never_the_moment_it_is_asked_at() -> None:
    two = datetime(2026, 6, 1, 2, tzinfo=UTC)
    assert first_after(two, "0 2 * * *", "UTC") == two + timedelta(days=1)
    assert first_after(two - timedelta(microseconds=1), "0 2 * * *", "UTC") == two
    assert first_after(two + timedelta(microseconds=1), "0 2 * * *", "UTC") != two


TOO_OFTEN = ("* * * * *", "*/4 * * * *", "0,58 * * * *", "0,2 3 1 1 *")
NO_EXPRESSION = (
    *("", "0 2 * *", "0 0 2 * * *", "@daily", "60 * * * *", "a b c d e", "*/0 * * * *"),
    *("0 2 * * 8", "1-0 * * * *", "0 2 * * 1#9", "\u00b2 2 * * *", "0 2 * * L", "*/ * * * *"),
    *("58 0 * * *,", "0 0 30 2 *"),
)


@pytest.mark.parametrize("cron", [*TOO_OFTEN, *NO_EXPRESSION])
def test_what_is_no_expression_is_due_too_often_or_never_is_refused(cron: str) -> None:
    with pytest.raises(BadCron):
        due_times.check(cron, "UTC")


@pytest.mark.parametrize(
    "cron",
    ["*/5 * * * *", "0 2 29 2 *", "58 * * * *", "58,3 0 * * *", "0 9 * * MON-FRI", "0 2 L * *"],
)
def test_what_is_due_now_and_then_is_accepted(cron: str) -> None:
    due_times.check(cron, BERLIN)


@given(st.text("0123456789*/,-#LW @ABCMONJAN", max_size=30))
def test_nobody_can_write_what_ends_in_another_error(cron: str) -> None:
    with suppress(BadCron):
        due_times.check(cron, BERLIN)


@pytest.mark.parametrize("zone", ["", "Mars/Base", "../etc/passwd", "europe/berlin\0", "localtime"])
def test_an_unknown_zone_is_refused(zone: str) -> None:
    with pytest.raises(UnknownZone):
        due_times.check("0 2 * * *", zone)
