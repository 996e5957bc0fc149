"""Can a number be written as JSON? NaN and infinity cannot; nobody knows them, so they are null."""

from __future__ import annotations

import math


def finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None
