"""How is an amount written for people? Short, with its unit; durations with two units at most."""

from __future__ import annotations

import math
from enum import StrEnum
from itertools import pairwise
from typing import Final

NONE: Final = "–"  # noqa: RUF001 - a dash for people
_PARTS: Final = ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s"))


class Unit(StrEnum):
    """What a number on an axis or in a table counts."""

    NUMBER = "number"
    SECONDS = "seconds"
    SHARE = "share"  # 0.5 is written 50 %


def written(value: float | None, unit: Unit = Unit.NUMBER) -> str:
    """The amount in words; a dash for what there is not."""
    if value is None or not math.isfinite(value):
        return NONE
    if unit is Unit.SECONDS:
        return duration(value)
    if unit is Unit.SHARE:
        return f"{significant(100 * value)} %"
    return significant(value)


def duration(seconds: float) -> str:
    """Two units at most: `0.08 s`, `42 s`, `3 min 12 s`, `2 h 5 min`, `3 d 4 h`."""
    if abs(seconds) < 10:  # noqa: PLR2004 - below, tenths can be told apart
        return f"{significant(seconds)} s"
    for (size, name), (smaller, small_name) in pairwise(_PARTS):
        whole = round(seconds / smaller)  # in the smaller unit, so that 59.9 min becomes an hour
        per = size // smaller
        if whole >= per:
            rest = whole % per
            return f"{whole // per} {name}" + (f" {rest} {small_name}" if rest else "")
    return f"{round(seconds)} s"


def significant(value: float, digits: int = 3) -> str:
    """Three significant digits, grouped by thousands, without an exponent or empty decimals."""
    if value == 0:
        return "0"
    decimals = max(digits - 1 - math.floor(math.log10(abs(value))), 0)
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
