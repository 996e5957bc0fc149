"""Grow while it pays: the second heuristic of *Resource Elasticity*, in dollars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from autoscaler.planning.policies.options import option
from autoscaler.planning.policies.policy import Objective, Policy, Situation, Sizes, Values, up_to

if TYPE_CHECKING:
    from autoscaler.planning.demand import Demand
    from autoscaler.planning.snapshot.job_terms import Utility

_HOUR: Final = 3600.0
FLOOR_SECONDS: Final = 60.0  # guessed: what a job of unknown length that never ran has before it


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityCost(Policy):
    """Dollars: what finishing is worth to the user by then, less what the GPUs cost until then.

    A job takes no step up that costs more than it brings, nor any beyond the first such step.
    """

    name: ClassVar = "utility_cost"
    summary: ClassVar = "grows each job as long as ending earlier is worth the GPUs' price"

    dollars_per_hour: float = option(
        10.0,
        "What ending an hour earlier is worth to a job that declares no utility, in dollars.",
        at_least=0.0,
    )

    def objective(self, situation: Situation) -> Objective:
        def values(demand: Demand, sizes: Sizes) -> Values:
            left = remaining_seconds(demand) / sizes.speedups
            ends_after = situation.now - demand.job.submitted_at + left
            gpu_hours = sizes.workers * demand.job.gpus_per_worker * left / _HOUR
            worth = self._utility(demand.job.utility, ends_after)
            net = worth - gpu_hours * situation.pool.dollars_per_gpu_hour
            return up_to(net, _last_that_pays(net))

        return values

    def _utility(self, utility: Utility | None, seconds: Values) -> Values:
        if utility is None:
            return -self.dollars_per_hour * seconds / _HOUR
        return dollars(utility, seconds)


def dollars(utility: Utility, seconds: Values) -> Values:
    """The utility of ending so many seconds after the submission; the last slope goes on."""
    at, worth = np.array(utility.points, dtype=float).T
    inside = np.interp(seconds, at, worth)
    if len(at) == 1:
        return np.asarray(inside)
    slope = (worth[-1] - worth[-2]) / (at[-1] - at[-2])
    return np.asarray(inside + slope * np.maximum(seconds - at[-1], 0.0))


def remaining_seconds(demand: Demand) -> float:
    """Remaining work at the smallest size; of unknown length: as much as there was so far."""
    if demand.remaining_seconds is not None:
        return demand.remaining_seconds
    return max(demand.job.attained_gpu_seconds / demand.job.gpus_per_worker, FLOOR_SECONDS)


def _last_that_pays(net: Values) -> int:
    """Index of the smaller size of the first step whose gain is no more than its cost."""
    failing = np.flatnonzero(np.diff(net) <= 0)
    return int(failing[0]) if failing.size else len(net) - 1
