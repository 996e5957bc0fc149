"""How noisy are a job's gradients? Its workers estimate it, and reports are smoothed.

An estimate is the quotient of two small differences: after few steps it may be wrong by a large
factor, and the planner chooses the batch by it. So a report moves the known value towards itself,
half the way within a minute. Too small and too large by the same factor weigh the same.
"""

from __future__ import annotations

import math
from typing import Final

HALFWAY_SECONDS: Final = 60.0  # guessed: calm enough for batches, and as quick as training changes
LEAST: Final = 1e-9  # in samples: what is beyond these two tells nothing of a batch
MOST: Final = 1e15
_LONGEST_SECONDS: Final = 10.0  # a first report after a pause is no better than another


def smoothed(known: float | None, reported: float | None, *, seconds: float) -> float | None:
    """Return the noise scale in samples, from a report so many seconds after the one before.

    It lies within `LEAST` and `MOST`. A repeated report changes nothing, as no time has passed.
    """
    known, reported = _sensible(known), _sensible(reported)
    if known is None or reported is None:
        return reported if known is None else known
    elapsed = min(max(seconds, 0.0), _LONGEST_SECONDS)
    weight = 1 - math.exp2(-elapsed / HALFWAY_SECONDS)
    logarithm = (1 - weight) * math.log(known) + weight * math.log(reported)
    return min(max(math.exp(logarithm), LEAST), MOST)


def _sensible(scale: float | None) -> float | None:
    """Return the number, brought within the bounds; None if it is not a positive number."""
    if scale is None or math.isnan(scale) or scale <= 0:
        return None
    return min(max(scale, LEAST), MOST)
