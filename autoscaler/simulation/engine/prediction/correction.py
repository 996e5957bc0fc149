"""How far off were ranges lately, and what corrects them? Told by what came of the last ones.

For each percentile there is a ratio: the time that passed until it happened over the time that was
predicted. If ranges were right, a tenth of the ratios of the 10th percentile would be below 1. The
factor by which that percentile was off is thus the 10 % quantile of its ratios, and so on:
conformal calibration (Romano, Patterson and Candes 2019), on a scale of ratios. It heals whatever
the replays get wrong in the same way each time, and claims nothing of why.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from autoscaler.simulation.engine.prediction.ranges import Range

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from autoscaler.planning.snapshot.cluster_state import PlannedJob

_NEAR_SECONDS: Final = 5.0  # guessed: what is nearer is not told apart; ratios would be wild
_PRIOR_JOBS: Final = 10  # guessed: so many jobs say that nothing is to be corrected
_ROUNDING: Final = 1e-9
_LARGEST: Final = math.log(10.0)  # a prediction that was further off corrects no more


class Basis(StrEnum):
    """What a predicted moment rests on; each is off in its own way."""

    START = "start"  # on when others make room
    DECLARED = "declared"  # an end, on a declared length
    LEARNED = "learned"  # an end, on the lengths of others
    UNREPORTED = "unreported"  # an end of a script that reports nothing, on the times others took


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOutcome:
    """A range as the replays told it, and the moment that came. Seconds on one clock."""

    job_id: str
    basis: Basis
    made_at: float
    replayed: Range
    until: float  # when it happened or, if it has not yet, when that was looked at
    has_happened: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """Factors on the times until the three percentiles."""

    p10: float = 1.0
    p50: float = 1.0
    p90: float = 1.0


def basis_of(job: PlannedJob) -> Basis:
    """What a prediction of the job's end rests on."""
    if not job.is_measurable:
        return Basis.UNREPORTED
    is_unknown = job.remaining_samples is None or job.scaling is None  # see `lengths`
    return Basis.LEARNED if is_unknown else Basis.DECLARED


def corrections(outcomes: Iterable[ReplayOutcome]) -> Mapping[Basis, Correction]:
    """What to correct by, for each basis that something is known of."""
    by_basis: defaultdict[Basis, list[ReplayOutcome]] = defaultdict(list)
    for one in outcomes:
        by_basis[one.basis].append(one)
    found = {basis: _correction(known) for basis, known in by_basis.items()}
    if Basis.START in found:
        found[Basis.START] = _only_wider(found[Basis.START])
    return found


def corrected(span: Range, correction: Correction | None, now: float) -> Range:
    """The range as it should have been said; None: nothing is known. The horizon stays one."""
    if correction is None:
        return span
    low, middle, high = (
        None if moment is None else now + _moved(moment - now, factor)
        for moment, factor in (
            (span.p10, correction.p10),
            (span.p50, correction.p50),
            (span.p90, correction.p90),
        )
    )
    if low is not None and middle is not None:
        low = min(low, middle)
    if high is not None and middle is not None:
        high = max(high, middle)
    return Range(p10=low, p50=middle, p90=high)


def _moved(seconds: float, factor: float) -> float:
    return max((max(seconds, 0.0) + _NEAR_SECONDS) * factor - _NEAR_SECONDS, 0.0)


def _correction(outcomes: Sequence[ReplayOutcome]) -> Correction:
    return Correction(
        p10=_factor(0.1, [(one, one.replayed.p10) for one in outcomes]),
        p50=_factor(0.5, [(one, one.replayed.p50) for one in outcomes]),
        p90=_factor(0.9, [(one, one.replayed.p90) for one in outcomes]),
    )


def _only_wider(correction: Correction) -> Correction:
    """A start hangs on one other job's end, so that a few say too little to narrow the next."""
    return Correction(p10=min(correction.p10, 1.0), p90=max(correction.p90, 1.0))


def _factor(share: float, outcomes: Sequence[tuple[ReplayOutcome, float | None]]) -> float:
    """The quantile of the ratios, in which each job counts once, however often it was predicted."""
    known = [(one, moment) for one, moment in outcomes if moment is not None]
    of_job = Counter(one.job_id for one, _ in known)
    ratios = [
        _Ratio(_log_ratio(one, moment), not one.has_happened, 1 / of_job[one.job_id])
        for one, moment in known
    ]
    jobs = sum(one.weight for one in ratios if not one.is_at_least)
    if not jobs:
        return 1.0
    return math.exp(_quantile(share, sorted(ratios)) * jobs / (jobs + _PRIOR_JOBS))


class _Ratio(NamedTuple):
    """A ratio in logarithms. Only the least is known of what has not happened yet."""

    value: float
    is_at_least: bool
    weight: float


def _log_ratio(one: ReplayOutcome, moment: float) -> float:
    passed = max(one.until - one.made_at, 0.0) + _NEAR_SECONDS
    predicted_seconds = max(moment - one.made_at, 0.0) + _NEAR_SECONDS
    return min(max(math.log(passed / predicted_seconds), -_LARGEST), _LARGEST)


def _quantile(share: float, ratios: Sequence[_Ratio]) -> float:
    """The value that this share of the next ones is expected to be below, from sorted ones.

    The next one lies in each of the gaps between n values with probability 1 / (n + 1). What a
    value stands for that is only known to be larger is spread over those above it (Kaplan, Meier).
    """
    everything = sum(one.weight for one in ratios)
    place, below, at_risk = share * (everything + 1) / everything, 0.0, everything
    for one in ratios:
        if not one.is_at_least:
            below += (1 - below) * one.weight / at_risk
            if below >= place - _ROUNDING:
                return one.value
        at_risk -= one.weight
    return ratios[-1].value
