"""Meet deadlines with the fewest GPUs; the rest goes where it shortens completion times most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from autoscaler.planning.policies.completion_time import CompletionTime
from autoscaler.planning.policies.options import option
from autoscaler.planning.policies.policy import Objective, Policy, Situation, Sizes, Values, up_to

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autoscaler.planning.demand import Demand


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadline(Policy):
    """A job that can meet its deadline wants the fewest workers that do, and those before all else.

    A job without a deadline or of unknown length, and one that can no longer meet its deadline
    whatever it gets, is valued as under `completion_time`.
    """

    name: ClassVar = "deadline"
    summary: ClassVar = "meets deadlines with the fewest GPUs, and shortens other jobs' times"

    margin: float = option(
        0.1,
        "The share of a job's remaining time kept in reserve, as predictions are not exact.",
        at_least=0.0,
    )

    def objective(self, situation: Situation) -> Objective:
        best_effort = CompletionTime().objective(situation)
        met = _more_than_all_else(situation.demands)

        def values(demand: Demand, sizes: Sizes) -> Values:
            otherwise = best_effort(demand, sizes)
            enough = np.flatnonzero(self._meets(demand, sizes, situation.now))
            if not enough.size:
                return otherwise
            fewest = int(enough[0])
            otherwise[fewest] += met
            return up_to(otherwise, fewest)

        return values

    def _meets(self, demand: Demand, sizes: Sizes, now: float) -> np.typing.NDArray[np.bool_]:
        deadline, left = demand.job.deadline, demand.remaining_seconds
        if deadline is None or left is None:
            return np.zeros(len(sizes.workers), dtype=bool)
        return np.asarray(left / sizes.speedups * (1 + self.margin) <= deadline - now)


def _more_than_all_else(demands: Sequence[Demand]) -> float:
    """A value that no sum of completion-time values can outweigh.

    Weights add up to n^2 for n jobs, and |log S| of a size that anybody would choose is below 10.
    """
    return 20.0 * len(demands) ** 2
