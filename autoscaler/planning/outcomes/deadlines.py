"""Will a job end in time? A warning as soon as the plan says that it will not.

Under every policy: the end of a job is predicted from its remaining work, at the size the plan
gives it and at the fastest of its sizes. Changes to come are not predicted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autoscaler.planning.decisions.plan import DeadlineWarning

if TYPE_CHECKING:
    from autoscaler.planning.outcomes.outcome import AllocationOutcome


def deadline_warning(outcome: AllocationOutcome, now: float) -> DeadlineWarning | None:
    """None: it will end in time, has no deadline, or nobody knows how long it takes."""
    demand = outcome.demand
    deadline, left = demand.job.deadline, demand.remaining_seconds
    if deadline is None or left is None or not demand.sizes:
        return None
    fastest = max(size.speedup for size in (*demand.sizes, *demand.larger))
    expected_at = now + left / outcome.size.speedup if outcome.size else None
    if expected_at is not None and expected_at <= deadline:
        return None
    soonest_at = now + left / fastest
    if expected_at is None and soonest_at <= deadline:
        return None  # it waits, and has time
    return DeadlineWarning(
        deadline=deadline,
        expected_at=None if expected_at is None else _to_the_minute(expected_at),
        soonest_at=_to_the_minute(soonest_at),
        is_out_of_reach=soonest_at > deadline,
    )


def _to_the_minute(at: float) -> float:
    """Predictions are no finer, and a decision is stored again whenever its numbers change."""
    return 60.0 * round(at / 60.0)
