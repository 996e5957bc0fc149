"""When is a change worth its stall? By what the job has lived, and by what is ahead of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from autoscaler.planning.demand.change_cost import LOOK_AHEAD_SECONDS, MIN_GAIN, change_factor
from autoscaler.planning.planner import plan
from tests.planning.builders import NOW, cluster, measured, running

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.cluster_state import PlannedJob

HOUR = 3600.0


def factor(
    age: float, *, stall: float, rescales: int = 0, seconds_left: float | None = None
) -> float:
    job = running("a", 1, started_at=NOW - age, stall_seconds=stall, rescales=rescales)
    return change_factor(job, NOW, seconds_left=seconds_left) / (1 - MIN_GAIN)


@pytest.mark.parametrize("seconds_left", [None, 0.0, 50.0, 100.0])
def test_a_change_costs_the_stalls_a_job_has_paid_for(seconds_left: float | None) -> None:
    found = factor(100, stall=10, rescales=3, seconds_left=seconds_left)
    assert found == pytest.approx(70 / 110)


@pytest.mark.parametrize("seconds_left", [None, 0.0, 0.4])
@pytest.mark.parametrize(("age", "stall"), [(0, 0.5), (0, 0.0), (-5, 0.5), (10, 10.0)])
def test_a_job_too_young_for_a_change_has_a_small_factor_and_never_none(
    age: float, stall: float, seconds_left: float | None
) -> None:
    found = factor(age, stall=stall, rescales=1, seconds_left=seconds_left if stall else None)
    assert 0 < found < 0.1


def test_what_is_ahead_counts_where_it_is_more_than_the_age_and_not_without_end() -> None:
    assert factor(10, stall=30, seconds_left=270) == pytest.approx(270 / 300)
    most = pytest.approx(LOOK_AHEAD_SECONDS / (LOOK_AHEAD_SECONDS + 30))
    assert factor(10, stall=30, seconds_left=HOUR) == most
    assert factor(10, stall=30, seconds_left=100 * HOUR) == most


def test_who_changed_often_pays_for_it_though_hours_are_ahead() -> None:
    factors = [factor(10, stall=30, rescales=n, seconds_left=HOUR) for n in (0, 5, 10, 100)]
    assert factors == sorted(factors, reverse=True)
    assert factors[-1] <= 0.01


def young(**overrides: Any) -> PlannedJob:
    """It has trained for five seconds on one of four GPUs, and a change costs thirty."""
    return running("a", 1, **({"started_at": NOW - 5, "stall_seconds": 30.0} | overrides))


JUMPS: dict[str, tuple[PlannedJob, int]] = {
    "with hours to go": (young(remaining_samples=1_000_000), 4),
    "with two minutes to go": (young(remaining_samples=12_000), 4),
    "nearly done": (young(remaining_samples=500), 1),
    "of unknown length": (young(remaining_samples=None), 1),
    "of unknown length, no longer young": (young(remaining_samples=None, started_at=NOW - HOUR), 4),
    "with hours to go, that changed often": (young(remaining_samples=1_000_000, rescales=15), 1),
}


@pytest.mark.parametrize(("job", "expected"), JUMPS.values(), ids=JUMPS.keys())
def test_a_job_jumps_if_what_is_ahead_of_it_pays_for_that(job: PlannedJob, expected: int) -> None:
    (decision,) = plan(cluster(job, quotas={})).decisions
    assert decision.allocation is not None
    assert decision.allocation.workers == expected


def test_one_measurement_is_enough_for_the_whole_jump() -> None:
    job = young(remaining_samples=1_000_000, max_workers=8)
    assert job.scaling is not None
    once = replace(job, scaling=replace(job.scaling, measured_workers=1))
    (decision,) = plan(cluster(once, nodes=(8,), quotas={})).decisions
    assert decision.allocation is not None
    assert decision.allocation.workers > 2


def test_a_job_that_a_first_report_keeps_at_one_worker_grows_with_the_next_ones() -> None:
    """Reports of the size that a job has replace each other; the newest twenty steps count most."""

    def workers_by(step_seconds: float) -> int:
        known = {"model_bytes": 10**8, "measurements": measured((1, 64 / step_seconds))}
        job = young(remaining_samples=10**9, max_workers=8, **known)
        (decision,) = plan(cluster(job, nodes=(8,), quotas={})).decisions
        assert decision.allocation is not None
        return decision.allocation.workers

    truth, much_too_fast = 1.0, 0.01
    assert workers_by(much_too_fast) == 1
    a_minute_later = truth + 0.95**60 * (much_too_fast - truth)
    assert workers_by(a_minute_later) == workers_by(truth) > 1
