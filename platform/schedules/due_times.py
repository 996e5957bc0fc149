"""When is a cron expression due in a time zone?

Expressions are those of Debian's cron: five fields, of which the two about days must both fit if
one of them begins with a star, and else either. Where clocks change, it goes as there: one whose
minute or hour begins with a star follows the time that passes, so it is due in both of the hours
that autumn has twice; any other is due once on each day, in the first of them, and when spring's
gap is over if it is due within.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

from schedules.errors import BadCron

LONGEST_CRON: Final = 100  # characters
LONGEST_ZONE: Final = 64
SHORTEST_PERIOD: Final = timedelta(minutes=5)
_FIELDS: Final = 5
_OF_A_MACHINE: Final = {"Factory", "localtime", "posixrules"}  # what they are differs
_HOUR: Final = 60  # minutes
_DAY: Final = 24  # hours
_EXAMPLE: Final = (
    "Use five fields: minute, hour, day of the month, month, day of the week; `0 2 * * *` is every"
    " day at two."
)


class UnknownZone(BadCron):
    """This is no time zone of the IANA database, such as Europe/Berlin or UTC."""


def check(cron: str, time_zone: str) -> None:
    """See that there is a next time, and no two follow each other too fast.

    Raises:
        UnknownZone: there is no such time zone.
        BadCron: the expression is none, is due too often, or never.
    """
    minutes, hours = _fields_of(cron)
    if (between := _least_between(minutes, hours)) < SHORTEST_PERIOD:
        raise BadCron(
            f"`{cron}` is due {_words(between)} after the time before; the least is"
            f" {_words(SHORTEST_PERIOD)}."
        )
    if first_after(datetime.now(UTC), cron, time_zone) is None:
        raise BadCron(f"`{cron}` is never due: no day fits it. {_EXAMPLE}")


def first_after(after: datetime, cron: str, time_zone: str) -> datetime | None:
    """Return the first moment strictly after this one, in UTC; None: there is none in 50 years.

    Raises: UnknownZone, BadCron.
    """
    return next(iterate(after, cron, time_zone), None)


def iterate(after: datetime, cron: str, time_zone: str) -> Iterator[datetime]:
    """Yield the moments strictly after this one, in UTC, each once and later than the one before.

    Raises: UnknownZone, BadCron.
    """
    # A library's moment may lie in the first of two hours of which we are in the second.
    last = after.astimezone(UTC)
    for moment in _simulated(cron, last.astimezone(zone_of(time_zone))):
        found = moment.astimezone(UTC)
        if found > last:
            yield found
            last = found


def zone_of(time_zone: str) -> ZoneInfo:
    """Raises: UnknownZone."""
    if time_zone not in _zones():
        raise UnknownZone(
            f"{time_zone!r} is no time zone. Use one of the IANA database, such as Europe/Berlin"
            " or UTC."
        )
    return ZoneInfo(time_zone)


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones() - _OF_A_MACHINE)


def _simulated(cron: str, local: datetime) -> CronSim:
    if len(cron.split()) != _FIELDS or len(cron) > LONGEST_CRON:
        raise BadCron(f"`{cron[:LONGEST_CRON]}` has not five fields. {_EXAMPLE}")
    try:
        return CronSim(cron, local)
    except CronSimError as error:
        raise BadCron(f"`{cron}` is no cron expression: {error}. {_EXAMPLE}") from error


def _fields_of(cron: str) -> tuple[list[int], set[int]]:
    found = _simulated(cron, datetime(2000, 1, 1, tzinfo=UTC))
    return sorted(found.minutes), found.hours


def _least_between(minutes: list[int], hours: set[int]) -> timedelta:
    """Return the least time between two that are due, on days that follow each other."""
    apart = [later - earlier for earlier, later in pairwise(minutes)]
    if any((hour + 1) % _DAY in hours for hour in hours):
        apart.append(_HOUR - minutes[-1] + minutes[0])
    return timedelta(minutes=min(apart, default=_HOUR))


def _words(length: timedelta) -> str:
    minutes = int(length.total_seconds() // 60)
    return "1 minute" if minutes == 1 else f"{minutes} minutes"
