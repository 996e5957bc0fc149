"""Which moment does a text mean? It is ISO 8601 with a time zone, far from the calendar's edges.

At the edges, arithmetic overflows: year 1 may be year 0 in UTC.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

_YEARS: Final = range(1970, 3000)
_FIRST: Final = datetime(_YEARS.start, 1, 1, tzinfo=UTC)
_LAST: Final = datetime(_YEARS.stop - 1, 12, 31, 23, 59, 59, tzinfo=UTC)


def parse_timestamp(text: str) -> datetime:
    """Return the moment of `2026-12-01T08:00:00Z`, in UTC.

    Raises:
        ValueError: it is not a date with time and time zone, or in a year that is out of bounds.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("has no time zone")
    if moment.year not in _YEARS:
        raise ValueError(f"is not in the years {_YEARS.start} to {_YEARS.stop - 1}")
    return moment.astimezone(UTC)


def nearest_timestamp(text: str) -> datetime:
    """Parse as `parse_timestamp`, but bring a moment of other years to the nearest allowed one.

    Raises:
        ValueError: it is not a date with time and time zone.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("has no time zone")
    if moment.year in _YEARS:
        return min(max(moment.astimezone(UTC), _FIRST), _LAST)
    return _FIRST if moment.year < _YEARS.start else _LAST


def format_timestamp(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")
