"""Do about eight of ten outcomes fall into the ranges that were predicted?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from autoscaler.simulation.engine.prediction.calibration import (
    ScoredPrediction,
    hold_against,
    share_held,
)
from autoscaler.simulation.engine.prediction.prediction import Effort
from autoscaler.simulation.engine.prediction.ranges import Range
from autoscaler.simulation.engine.workload.arrivals import Poisson
from autoscaler.simulation.engine.workload.generators import THREE_KINDS, WorkloadRecipe, generate
from autoscaler.simulation.engine.workload.lengths import Uniform
from tests.simulation.workloads import job, pool, settings, trace

QUICK = Effort(horizon_seconds=7200.0, planned_jobs=500)
WORKLOAD = WorkloadRecipe(
    arrivals=Poisson(per_second=1 / 120),
    jobs=30,
    mix=THREE_KINDS,
    lengths=Uniform(shortest=200, longest=1500),
    max_workers=4,
    undeclared=0.3,
    declared_factors=(0.8, 1.25),
)


def test_most_outcomes_fall_into_the_ranges() -> None:
    """Loose: the outcomes of one workload depend on each other."""
    made = settings(pool(4, 4), measurement_noise=0.05, checks_invariants=False)
    predicted = hold_against(
        generate(WORKLOAD, seed=1), made, moments=(1200, 2100, 3000), effort=QUICK
    )
    assert len(predicted) >= 10
    assert 0.65 <= share_held(predicted) <= 0.98


@pytest.mark.parametrize(
    ("span", "is_early", "is_late"),
    [
        (Range(p10=50, p50=90, p90=150), False, False),
        (Range(p10=101, p50=120, p90=150), True, False),
        (Range(p10=10, p50=20, p90=99), False, True),
        (Range(p10=50, p50=None, p90=None), False, False),
        (Range(p10=None, p50=None, p90=None), True, False),  # though 200 were looked ahead
    ],
)
def test_an_outcome_lies_before_within_or_after_a_range(
    span: Range,
    is_early: bool,  # noqa: FBT001 - a table
    is_late: bool,  # noqa: FBT001 - a table
) -> None:
    predicted = ScoredPrediction(
        job_id="a",
        is_start=False,
        made_at=0,
        looked_until=200,
        span=span,
        replayed=span,
        happened_at=100,
    )
    assert (predicted.is_early, predicted.is_late) == (is_early, is_late)
    assert predicted.is_held == (not is_early and not is_late)


def test_what_is_said_to_come_late_and_does_is_neither_right_nor_wrong() -> None:
    far = Range(p10=None, p50=None, p90=None)
    predicted = ScoredPrediction(
        job_id="a",
        is_start=False,
        made_at=0,
        looked_until=200,
        span=far,
        replayed=far,
        happened_at=201,
    )
    assert predicted.says_nothing
    assert not predicted.is_early


def test_ends_beyond_the_horizon_are_no_misses() -> None:
    """A job of ten minutes on one GPU, looked at for one."""
    long = job("long")
    looked = Effort(horizon_seconds=60.0, planned_jobs=50, fewest_replays=3, fewest_plans=3)
    assert hold_against(trace(long), settings(pool(1)), moments=(60,), effort=looked) == ()
    seen = replace(looked, horizon_seconds=7200.0)
    assert len(hold_against(trace(long), settings(pool(1)), moments=(60,), effort=seen)) == 1
