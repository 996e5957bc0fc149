"""How many workers, and which batch, does each admitted job get? Values in, optimum out."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from autoscaler.planning.guarantees import team_bounds
from autoscaler.planning.optimizer import Claim, Option, Solution, solve
from autoscaler.planning.policies import change_factor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from autoscaler.planning.cluster_state import TeamQuota
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
            options=tuple(
                Option(gpus=size.workers * per_worker, value=value)
                for size, value in zip(self.sizes, self.values, strict=True)
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """The optimum: a size per job. `solution` None: nothing fits, so everything stays."""

    sizes: Mapping[str, Size]
    offers: Mapping[str, Offer]
    solution: Solution | None


def split(
    demands: Sequence[Demand],
    *,
    policy: Policy,
    quotas: Mapping[str, TeamQuota],
    gpus: int,
    now: float,
) -> Split:
    """The best sizes. Jobs changed a short while ago stay, unless a guarantee needs their GPUs."""
    weights = policy.weights(demands)
    offers = [_offer(demand, policy, weights[demand.job.job_id], now) for demand in demands]
    calm = [_stay(offer) if is_cooling(offer.demand, now) else offer for offer in offers]
    solution, is_met = _solve(calm, quotas, gpus)
    if solution is None or not is_met:
        calm = [_no_growth(offer) if is_cooling(offer.demand, now) else offer for offer in offers]
        solution, _ = _solve(calm, quotas, gpus)
    chosen = solution.chosen if solution else None
    return Split(
        sizes={
            offer.demand.job.job_id: offer.sizes[chosen[index]] for index, offer in enumerate(calm)
        }
        if chosen is not None
        else {},
        offers={offer.demand.job.job_id: offer for offer in offers},
        solution=solution,
    )


def _solve(
    offers: Sequence[Offer], quotas: Mapping[str, TeamQuota], gpus: int
) -> tuple[Solution | None, bool]:
    claims: defaultdict[str, list[Claim]] = defaultdict(list)
    demands: defaultdict[str, list[Demand]] = defaultdict(list)
    for offer in offers:
        claims[offer.demand.job.team].append(offer.claim())
        demands[offer.demand.job.team].append(offer.demand)
    bounds, is_met = team_bounds(claims, demands, quotas=quotas, gpus=gpus)
    return solve([offer.claim() for offer in offers], gpus=gpus, bounds=bounds), is_met


def _offer(demand: Demand, policy: Policy, weight: float, now: float) -> Offer:
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


def is_cooling(demand: Demand, now: float) -> bool:
    changed_at = demand.job.last_rescaled_at
    return (
        demand.held > 0
        and changed_at is not None
        and now - changed_at < demand.job.min_interval_seconds
    )


def _stay(offer: Offer) -> Offer:
    return offer.restricted(lambda size: size == offer.demand.present)


def _no_growth(offer: Offer) -> Offer:
    return offer.restricted(lambda size: size.workers <= offer.demand.held)
