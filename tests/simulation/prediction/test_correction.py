"""Do ranges learn from what came of earlier ones?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from autoscaler.simulation.engine.prediction.correction import (
    Basis,
    Correction,
    ReplayOutcome,
    basis_of,
    corrected,
    corrections,
)
from autoscaler.simulation.engine.prediction.ranges import Range
from tests.planning.builders import SCALES_WELL, waiting

TOLD = Range(p10=80.0, p50=100.0, p90=120.0)


def outcome(
    job: str, until: float, *, has_happened: bool = True, told: Range = TOLD
) -> ReplayOutcome:
    return ReplayOutcome(
        job_id=job,
        basis=Basis.DECLARED,
        made_at=0.0,
        replayed=told,
        until=until,
        has_happened=has_happened,
    )


def learned(*outcomes: ReplayOutcome) -> Range:
    return corrected(TOLD, corrections(outcomes).get(Basis.DECLARED), now=0.0)


def share_held(span: Range, moments: list[float]) -> float:
    assert span.p10 is not None
    assert span.p90 is not None
    return sum(span.p10 <= moment <= span.p90 for moment in moments) / len(moments)


@pytest.mark.parametrize(("middle", "spread"), [(1.0, 0.5), (0.6, 0.3), (2.0, 0.1), (1.0, 0.02)])
def test_whatever_was_wrong_with_ranges_eight_of_ten_hold_once_it_is_known(
    middle: float, spread: float
) -> None:
    """Too narrow, too late, too early or too wide: the same rule mends it."""
    rng = np.random.default_rng(7)
    came = [float(100 * middle * np.exp(rng.normal(0, spread))) for _ in range(1200)]
    past, future = came[:600], came[600:]
    span = learned(*(outcome(f"j{number}", moment) for number, moment in enumerate(past)))
    assert 0.75 <= share_held(span, future) <= 0.85


def test_nothing_is_corrected_while_nothing_is_known_and_little_by_few_jobs() -> None:
    assert learned() == TOLD
    twice_as_long = [outcome(f"j{number}", 200.0) for number in range(30)]
    few, many = learned(*twice_as_long[:2]), learned(*twice_as_long)
    assert TOLD.p90 is not None
    assert few.p90 is not None
    assert many.p90 is not None
    assert TOLD.p90 < few.p90 < many.p90 < 200.0


def test_a_job_counts_once_however_often_it_was_predicted() -> None:
    often = [outcome("often", 1000.0) for _ in range(50)]
    others = [outcome(f"j{number}", 100.0) for number in range(30)]
    assert learned(*often, *others) == learned(often[0], *others)


def test_jobs_that_train_on_count_as_longer_than_they_are() -> None:
    """Short jobs end first: without the others they would speak for all."""
    ended = [outcome(f"short{number}", 50.0) for number in range(20)]
    still = [outcome(f"long{number}", 150.0, has_happened=False) for number in range(20)]
    without, whole = learned(*ended), learned(*ended, *still)
    assert without.p90 is not None
    assert whole.p90 is not None
    assert without.p90 < 80.0
    assert whole.p90 > 120.0


def test_ranges_of_starts_become_wider_and_never_narrower() -> None:
    def start(name: str, until: float) -> ReplayOutcome:
        return replace(outcome(name, until), basis=Basis.START)

    exact = corrections(start(f"j{number}", 100.0) for number in range(50))
    assert exact[Basis.START] == Correction()
    late = corrections(start(f"j{number}", 300.0) for number in range(50))[Basis.START]
    assert (late.p10, late.p50) == (1.0, 1.0)
    assert late.p90 > 2.0


def test_what_lies_beyond_the_horizon_stays_there_and_the_rest_stays_in_order() -> None:
    early = Correction(p10=3.0, p50=1.0, p90=0.5)
    assert corrected(TOLD, early, now=0.0) == Range(p10=100.0, p50=100.0, p90=100.0)
    late = Range(p10=80.0, p50=None, p90=None)
    assert corrected(late, Correction(p10=0.5), now=0.0) == Range(p10=37.5, p50=None, p90=None)
    assert corrected(Range(p10=None, p50=None, p90=None), early, now=0.0).p10 is None


def test_a_wild_outcome_moves_a_range_by_a_bounded_factor() -> None:
    wild = [outcome(f"j{number}", 1e12) for number in range(1000)]
    assert corrections(wild)[Basis.DECLARED].p90 <= 10.0


def test_ends_rest_on_what_is_known_of_the_length() -> None:
    measured = waiting("a", remaining_samples=10, measurements=SCALES_WELL)
    assert basis_of(measured) is Basis.DECLARED
    assert basis_of(waiting("a", remaining_samples=10)) is Basis.LEARNED
    assert basis_of(waiting("a")) is Basis.LEARNED
    assert basis_of(waiting("a", is_measurable=False)) is Basis.UNREPORTED
