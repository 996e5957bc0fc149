"""What is each size worth to a job? The demand, valued by the policy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from autoscaler.planning.optimizer import Claim
from autoscaler.planning.policies import change_factor

if TYPE_CHECKING:
    from collections.abc import Callable

    from autoscaler.planning.demand import Demand, Size
    from autoscaler.planning.policies import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """The sizes a job may choose from, and what each is worth to it under the policy."""

    demand: Demand
    sizes: tuple[Size, ...]
    values: tuple[float, ...]
    value_of: Callable[[Size], float]

    def restricted(self, may_take: Callable[[Size], bool]) -> Offer:
        kept = [(s, v) for s, v in zip(self.sizes, self.values, strict=True) if may_take(s)]
        if not kept:
            return self
        sizes, values = zip(*kept, strict=True)
        return replace(self, sizes=sizes, values=values)

    def claim(self) -> Claim:
        per_worker = self.demand.job.gpus_per_worker
        return Claim(
            job_id=self.demand.job.job_id,
            team=self.demand.job.team,
            gpus=tuple(size.workers * per_worker for size in self.sizes),
            values=self.values,
        )


def offer_for(demand: Demand, policy: Policy, weight: float, now: float) -> Offer:
    """Staying is worth the present speed; any change is worth its speed times the change factor.

    At the present number of workers the better of both: the present batch, or the best one.
    """
    factor = change_factor(demand.job, now) if demand.held else 1.0
    present = demand.present

    def value_of(size: Size) -> float:
        kept = size == present
        return policy.worth(weight=weight, speedup=size.speedup * (1.0 if kept else factor))

    sizes = tuple(
        max(present, size, key=value_of)
        if present is not None and size.workers == present.workers
        else size
        for size in demand.sizes
    )
    return Offer(demand=demand, sizes=sizes, values=tuple(map(value_of, sizes)), value_of=value_of)
