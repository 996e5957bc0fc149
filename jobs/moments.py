"""Which moment does a text mean? ISO 8601 with a time zone, far from the edges of the calendar.

At the edges, arithmetic overflows: in UTC year 1 may be year 0.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

_YEARS: Final = range(1970, 3000)


def parse_moment(text: str) -> datetime:
    """Return the moment of `2026-12-01T08:00:00Z`, in UTC.

    Raises:
        ValueError: no date with time and time zone, or one that nobody lives to see.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("has no time zone")
    if moment.year not in _YEARS:
        raise ValueError(f"is not in the years {_YEARS.start} to {_YEARS.stop - 1}")
    return moment.astimezone(UTC)


def format_moment(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")
