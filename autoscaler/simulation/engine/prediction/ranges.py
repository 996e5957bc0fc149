"""Between which moments does something probably happen?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.special import stdtrit

if TYPE_CHECKING:
    from collections.abc import Sequence

ENOUGH_TO_TELL: Final = 9  # draws: the first of so many is the 10th percentile, see `range_of`
_NEAR_SECONDS: Final = 5.0  # guessed: what is nearer is not told apart


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Percentiles of a moment, on the snapshot's clock. None: later than was looked ahead."""

    p10: float | None
    p50: float | None
    p90: float | None


def range_of(moments: Sequence[float | None]) -> Range:
    """The percentiles of so many draws; none that lies beyond the last of them.

    Of n draws and the true outcome each place in the order is equally likely to be the truth's: it
    is below the k-th smallest with probability k / (n + 1).
    """
    ordered = sorted(math.inf if moment is None else moment for moment in moments)

    def percentile(share: float) -> float | None:
        place = share * (len(ordered) + 1) - 1
        below = min(max(math.floor(place), 0), len(ordered) - 1)
        above = min(below + 1, len(ordered) - 1)
        weight = min(max(place - below, 0.0), 1.0)
        if (math.isinf(ordered[above]) and weight > 0) or math.isinf(ordered[below]):
            return None
        return ordered[below] + weight * (ordered[above] - ordered[below] if weight else 0.0)

    return Range(p10=percentile(0.10), p50=percentile(0.50), p90=percentile(0.90))


def range_of_few(moments: Sequence[float | None], now: float) -> Range:
    """The same where draws may be too few to tell a tenth.

    Then the logarithms of the seconds until these moments are taken for draws of one normal
    distribution, and the range is that of one more (Student's t).
    """
    known = [moment for moment in moments if moment is not None]
    if len(moments) >= ENOUGH_TO_TELL or len(known) < max(len(moments), 2):
        return range_of(moments)
    logarithms = np.log([max(moment - now, 0.0) + _NEAR_SECONDS for moment in known])
    middle, degrees = float(logarithms.mean()), len(known) - 1
    spread = float(logarithms.std(ddof=1)) * math.sqrt(1 + 1 / len(known))

    def percentile(share: float) -> float:
        off = spread * float(stdtrit(degrees, share))
        return now + max(math.exp(middle + off) - _NEAR_SECONDS, 0.0)

    return Range(p10=percentile(0.10), p50=percentile(0.50), p90=percentile(0.90))
