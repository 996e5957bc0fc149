"""What is each size worth to each job of a plan? By the policy, and by the deadlines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from autoscaler.planning.allocation.deadline_values import with_deadlines
from autoscaler.planning.allocation.size_values import size_values_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from autoscaler.planning.allocation.size_values import SizeValues
    from autoscaler.planning.demand import Demand
    from autoscaler.planning.policies import Objective


@dataclass(slots=True, kw_only=True)
class PlanValues:
    """The size values of one plan. They may be asked for again with some jobs changed or left out.

    The objective is asked for once for the same jobs, and a job is valued once under it.
    """

    objective_of: Callable[[Sequence[Demand]], Objective]
    now: float
    _jobs: tuple[str, ...] | None = None
    _objective: Objective | None = None
    _known: dict[str, SizeValues] = field(default_factory=dict)

    def of(self, demands: Sequence[Demand]) -> list[SizeValues]:
        jobs = tuple(demand.job.job_id for demand in demands)
        if self._objective is None or jobs != self._jobs:
            self._jobs, self._objective, self._known = jobs, self.objective_of(demands), {}
        own = [self._size_values(demand, self._objective) for demand in demands]
        return with_deadlines(own, self.now)

    def _size_values(self, demand: Demand, objective: Objective) -> SizeValues:
        known = self._known.get(demand.job.job_id)
        if known is None or known.demand is not demand:
            known = size_values_for(demand, objective, self.now)
            self._known[demand.job.job_id] = known
        return known
