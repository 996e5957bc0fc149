"""Between which moments does something probably happen?"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Percentiles of a moment, on the snapshot's clock. None: later than was looked ahead."""

    p10: float | None
    p50: float | None
    p90: float | None
