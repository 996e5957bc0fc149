"""How many workers does an application itself ask for? By a metric that it reports.

*Elastic Remote Methods* lets an application scale on what only it knows: the length of a queue,
a latency, a backlog. A job declares between which values of such a metric its size is right; above
it grows by one size, below it shrinks by one, as far as its range and the pool allow. This holds
under every policy: to the policy, each worker up to the size asked for counts as fully useful, and
larger sizes are not wanted.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from autoscaler.planning.demand.demand import Demand
    from autoscaler.planning.snapshot.cluster_state import PlannedJob


class ScalingDirection(StrEnum):
    """What a reading asks for."""

    GROW = "grow"
    STAY = "stay"
    SHRINK = "shrink"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricReading:
    """The newest value of the metric a job scales on, and what it asks for."""

    metric: str
    value: float
    threshold: float | None  # the one that is passed; None: the size is right
    wish: ScalingDirection


def reading_of(job: PlannedJob) -> MetricReading | None:
    """None: the job scales on no metric, or has not reported it at its present size yet."""
    rule = job.scale_on
    value = None if rule is None else dict(job.reported).get(rule.metric)
    if rule is None or value is None:
        return None
    threshold, wish = None, ScalingDirection.STAY
    if rule.grow_above is not None and value > rule.grow_above:
        threshold, wish = rule.grow_above, ScalingDirection.GROW
    elif rule.shrink_below is not None and value < rule.shrink_below:
        threshold, wish = rule.shrink_below, ScalingDirection.SHRINK
    return MetricReading(metric=rule.metric, value=value, threshold=threshold, wish=wish)


def last_asked_for(demand: Demand, workers: NDArray[np.int_]) -> int:
    """Index of the largest size the application has a use for. A new job has one for the first."""
    reading = reading_of(demand.job)
    held = int(np.searchsorted(workers, demand.held, side="right")) - 1
    step = (
        {ScalingDirection.GROW: 1, ScalingDirection.SHRINK: -1}.get(reading.wish, 0)
        if reading
        else 0
    )
    return min(max(held + step, 0), len(workers) - 1)
