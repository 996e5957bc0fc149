from __future__ import annotations

import pytest

from autoscaler.planning.demand.change_cost import MIN_GAIN, change_factor
from tests.planning.builders import NOW, running


def test_a_change_costs_the_stalls_a_job_has_paid_for() -> None:
    job = running("a", 1, started_at=NOW - 100, stall_seconds=10, rescales=3)
    assert change_factor(job, NOW) == pytest.approx(70 / 110 * (1 - MIN_GAIN))


@pytest.mark.parametrize(("age", "stall"), [(0, 0.5), (0, 0.0), (-5, 0.5), (10, 10.0)])
def test_a_job_too_young_for_a_change_has_a_small_factor_and_never_none(
    age: float, stall: float
) -> None:
    job = running("a", 1, started_at=NOW - age, stall_seconds=stall, rescales=1)
    assert 0 < change_factor(job, NOW) < 0.1
