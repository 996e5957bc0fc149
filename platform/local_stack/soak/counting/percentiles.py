"""Below which number are most of many?"""

from __future__ import annotations

from collections.abc import Collection


def percentile(numbers: Collection[float], share: float) -> float | None:
    """The number that is not below this share of them; None: there are none."""
    if not numbers:
        return None
    ordered = sorted(numbers)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]
