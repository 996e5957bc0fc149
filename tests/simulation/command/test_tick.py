"""Is a long trace replayed with fewer plans, and is that told?"""

from __future__ import annotations

import pytest

from autoscaler.simulation.cli.tick import MOST_PLANS, reason_for, tick_for
from autoscaler.simulation.engine.workload.trace import Trace
from tests.simulation.workloads import job, trace

DAY = 86_400.0


def lasting(days: float) -> Trace:
    return trace(job("first", at=5 * DAY), job("last", at=(5 + days) * DAY))


@pytest.mark.parametrize(
    ("days", "tick"), [(0, 60), (10, 60), (11, 120), (75, 600), (300, 1800), (99_999, 3600)]
)
def test_the_tick_depends_on_how_long_jobs_come(days: float, tick: float) -> None:
    assert tick_for(lasting(days)) == tick
    assert tick == 3600 or days * DAY / tick <= MOST_PLANS


def test_a_tick_that_was_chosen_is_told_with_what_it_costs() -> None:
    assert reason_for(60.0, lasting(1)) is None
    said = reason_for(600.0, lasting(75))
    assert said is not None
    assert "every 10 min, because jobs come over 75 d." in said
    assert "waits 5 min for" in said
