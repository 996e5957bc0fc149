"""How good were the predictions? Which share was within the 10 to 90 % ranges, by horizon?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from jobs.models import Prediction

ENOUGH_OUTCOMES: Final = 30  # guessed: with fewer the share itself is off by more than 15 %
_HORIZONS: Final = (60.0, 600.0, 3600.0, None)  # seconds from prediction to outcome, at most


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeCoverage:
    """How many outcomes were within the predicted range. `at_most_seconds` None: no bound."""

    at_most_seconds: float | None
    held: int
    outcomes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How good predictions were; `is_rough` if there are too few outcomes to say."""

    held: int
    outcomes: int
    is_rough: bool
    by_horizon: tuple[RangeCoverage, ...]


def calibration(*, since: datetime) -> Calibration:
    """Summarise predictions whose outcome came since then. Well calibrated is a share of 80 %."""
    scored = Prediction.objects.filter(happened_at__gte=since)
    rows = list(scored.values_list("made_at", "happened_at", "held"))
    ahead = [
        ((happened - made).total_seconds(), bool(held))
        for made, happened, held in rows
        if happened is not None and happened - made >= timedelta()
    ]
    total = _held(None, ahead)
    return Calibration(
        held=total.held,
        outcomes=total.outcomes,
        is_rough=total.outcomes < ENOUGH_OUTCOMES,
        by_horizon=tuple(_buckets(ahead)),
    )


def _buckets(ahead: Iterable[tuple[float, bool]]) -> Iterable[RangeCoverage]:
    rest = list(ahead)
    for bound in _HORIZONS:
        within = [one for one in rest if bound is None or one[0] <= bound]
        rest = [one for one in rest if bound is not None and one[0] > bound]
        yield _held(bound, within)


def _held(bound: float | None, ahead: list[tuple[float, bool]]) -> RangeCoverage:
    return RangeCoverage(
        at_most_seconds=bound, held=sum(held for _, held in ahead), outcomes=len(ahead)
    )
