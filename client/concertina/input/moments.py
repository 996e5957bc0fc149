"""Which moment does somebody mean? `2026-11-01`, `2026-11-01T12:30`, or `36h`: so long ago."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

import typer

_AGO: Final = re.compile(r"(\d{1,6})([mhdw])")
_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def moment(text: str) -> datetime:
    """Return the moment; one without a time zone is in UTC.

    Raises:
        typer.BadParameter: it is none.
    """
    try:
        if ago := _AGO.fullmatch(text):
            return datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        found = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise typer.BadParameter(
            f"{text!r} is no moment. Write 2026-11-01, 2026-11-01T12:30, or 36h for so long ago."
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def day_or_moment(text: str) -> str:
    """Return the day or the moment for the service, which knows whose time zone is meant.

    Raises:
        typer.BadParameter: it is neither.
    """
    found = moment(text)
    return found.isoformat() if _AGO.fullmatch(text) else text
