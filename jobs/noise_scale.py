"""How noisy are a job's gradients? What its workers estimate, smoothed over the reports.

An estimate is the quotient of two small differences: one made of few steps may be wrong by a
factor, and the planner chooses the batch by it. So a report moves what is known towards itself,
half the way within a minute. Too small and too large by the same factor weigh the same.
"""

from __future__ import annotations

import math
from typing import Final

HALFWAY_SECONDS: Final = 60.0  # guessed: calm enough for batches, and as quick as training changes
_LONGEST_SECONDS: Final = 10.0  # a first report after a pause is no better than another


def smoothed(known: float | None, reported: float | None, *, seconds: float) -> float | None:
    """The noise scale in samples, from a report so many seconds after the one before.

    The same report again changes nothing, as no time has passed.
    """
    if known is None or reported is None:
        return reported if known is None else known
    elapsed = min(max(seconds, 0.0), _LONGEST_SECONDS)
    weight = 1 - math.exp2(-elapsed / HALFWAY_SECONDS)
    return known * math.pow(reported / known, weight)
