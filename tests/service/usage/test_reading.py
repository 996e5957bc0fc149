"""Is each hour counted once, in the period in which it begins, however days and zones lie?"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoscaler.gpu_accounts.models import HourLine
from autoscaler.gpu_accounts.reading.calendar import Period, divided_days
from autoscaler.gpu_accounts.reading.question import Dimension, UsageQuestion
from autoscaler.gpu_accounts.reading.usage import read_usage
from tests.campaigns import examples
from tests.service.usage.accounts import HOUR, account, close, line

FIRST = datetime(2026, 3, 28, 20, tzinfo=UTC)  # before the night in which European clocks were set
HOURS = 24 * 5
ZONES = ("UTC", "Europe/Berlin", "Asia/Kolkata", "America/Santiago", "Pacific/Kiritimati")


def write_accounts() -> None:
    """Each hour has another amount, so that none can stand for another."""
    ada = account("a", "vision", "ada", project="digits")
    bob = account("b", "vision", "bob")
    lines = []
    for number in range(HOURS):
        hour = FIRST + number * HOUR
        lines += [
            line(hour, job=ada, guaranteed=number + 1),
            line(hour, job=bob, borrowed=(number + 1) / 1000),
            line(hour, team="language", lent=(number + 1) / 1000),
        ]
    close(lines)


def named(hour: datetime, period: Period | None, zone: ZoneInfo) -> str | None:
    """Another way to find the period of an hour."""
    local = hour.astimezone(zone)
    words = {
        Period.HOUR: local.isoformat(),
        Period.DAY: f"{local:%Y-%m-%d}",
        Period.MONTH: f"{local:%Y-%m}",
    }
    return words[period] if period else None


@pytest.mark.django_db
@given(
    st.integers(0, HOURS - 1),
    st.integers(1, HOURS),
    st.sampled_from([None, *Period]),
    st.sampled_from(ZONES),
)
@examples(100)
def test_each_hour_counts_once_where_it_begins(
    begins: int, hours: int, period: Period | None, zone_name: str
) -> None:
    if not HourLine.objects.exists():
        write_accounts()
    zone, since = ZoneInfo(zone_name), FIRST + begins * HOUR
    until = min(since + hours * HOUR, FIRST + HOURS * HOUR)
    asked = UsageQuestion(
        since=since, until=until, zone=zone, period=period, dimensions=[Dimension.USER]
    )
    expected: Counter[tuple[str | None, str | None, str]] = Counter()
    for one in HourLine.objects.filter(hour__gte=since, hour__lt=until).select_related("owner"):
        name = named(one.hour, period, zone)
        for column in ("guaranteed", "borrowed", "lent"):
            expected[name, one.owner.user or None, column] += getattr(one, column)
    found = read_usage(asked, limit=10_000)
    assert {
        (row.period, row.told[0], column): row.amounts[column]
        for row in found.rows
        for column in ("guaranteed", "borrowed", "lent")
    } == dict(expected)
    assert found.total["guaranteed"] == sum(
        amount for (_, _, column), amount in expected.items() if column == "guaranteed"
    )


def test_days_that_are_asked_for_whole_are_read_whole() -> None:
    since, until = datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)
    berlin, london = ZoneInfo("Europe/Berlin"), ZoneInfo("Europe/London")

    def divided(zone: ZoneInfo, period: Period) -> int:
        return len(divided_days(since, until, period.begins(since, until, zone)))

    assert divided_days(since, until) == []
    assert divided(ZoneInfo("UTC"), Period.DAY) == 0
    assert divided(berlin, Period.MONTH) == 12
    assert divided(berlin, Period.DAY) == 365
    assert divided(london, Period.DAY) == 210, "those of its summer"
    assert divided_days(since + HOUR, until - HOUR) == [
        since.date(),
        (until - timedelta(days=1)).date(),
    ]
