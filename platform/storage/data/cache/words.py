"""How far is a fetch, for people? `34 % of 120 GB, about 6 min`."""

from __future__ import annotations

from typing import Final

_UNITS: Final = ("B", "kB", "MB", "GB", "TB", "PB")
_STEP: Final = 1000


def how_far(done_bytes: int, total_bytes: int, seconds_left: float | None) -> str:
    percent = 100 * done_bytes // total_bytes if total_bytes else 0
    left = "" if seconds_left is None else f", {about(seconds_left)}"
    return f"{percent} % of {size(total_bytes)}{left}"


def size(count: int) -> str:
    """Return bytes with three digits at most."""
    amount, unit = float(count), 0
    while amount >= _STEP and unit < len(_UNITS) - 1:
        amount, unit = amount / _STEP, unit + 1
    digits = 1 if amount < 10 and unit else 0  # noqa: PLR2004
    return f"{amount:.{digits}f} {_UNITS[unit]}"


def about(seconds: float) -> str:
    """Return a duration as roughly as it is known."""
    if seconds < 60:  # noqa: PLR2004
        return "less than a minute"
    minutes = round(seconds / 60)
    return f"about {minutes} min" if minutes < 120 else f"about {round(minutes / 60)} h"  # noqa: PLR2004
