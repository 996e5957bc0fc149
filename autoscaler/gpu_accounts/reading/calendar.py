"""Which hours, days and months does a time have somewhere, and from which lines are they read?

Lines are of hours and days of UTC. An hour belongs to the day and the month in which it begins, so
each counts once, also where clocks differ from UTC by half an hour.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from enum import StrEnum
from typing import Final

HOUR: Final = timedelta(hours=1)
_MIDNIGHT: Final = time()


class Period(StrEnum):
    """How long each of the times is that are told apart."""

    HOUR = "hour"
    DAY = "day"
    MONTH = "month"

    def begins(self, since: datetime, until: datetime, zone: tzinfo) -> Sequence[datetime]:
        """Return when those begin that are in this time, the first perhaps before it."""
        if self is Period.HOUR:
            hours = -(-(until - since) // HOUR)
            return [since + HOUR * number for number in range(hours)]
        return list(self._begins(since, until, zone))

    def _begins(self, since: datetime, until: datetime, zone: tzinfo) -> Iterator[datetime]:
        day = since.astimezone(zone).date()
        if self is Period.MONTH:
            day = day.replace(day=1)
        while (begins := datetime.combine(day, _MIDNIGHT, zone).astimezone(UTC)) < until:
            yield begins
            step = 1 if self is Period.DAY else 32
            day += timedelta(days=step)
            if self is Period.MONTH:
                day = day.replace(day=1)

    def called(self, begins: datetime, zone: tzinfo) -> str:
        """Return what people call the one that begins then."""
        local = begins.astimezone(zone)
        match self:
            case Period.HOUR:
                return local.isoformat()
            case Period.DAY:
                return local.date().isoformat()
            case Period.MONTH:
                return f"{local:%Y-%m}"


def divided_days(
    since: datetime, until: datetime, begins: Sequence[datetime] = ()
) -> Sequence[date]:
    """Return the days of UTC of which a part is asked for, or several parts apart: read by hours.

    `begins`: when the parts begin.
    """
    borders = (since, until, *(one for one in begins if since < one < until))
    moments = (one.astimezone(UTC) for one in borders)
    return sorted({one.date() for one in moments if one.time() != _MIDNIGHT})
