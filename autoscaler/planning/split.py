"""How many workers, and which batch, does each admitted job get? Values in, optimum out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from autoscaler.planning.guarantees import team_bounds
from autoscaler.planning.offers import Offer, offer_for
from autoscaler.planning.optimizer import Problem, Solution, solve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from autoscaler.planning.cluster_state import TeamQuota
    from autoscaler.planning.demand import Demand, Size
    from autoscaler.planning.policies import Policy


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
    offers = [offer_for(demand, policy, weights[demand.job.job_id], now) for demand in demands]
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
    bounds, is_met = team_bounds(offers, quotas=quotas, gpus=gpus)
    claims = [offer.claim() for offer in offers]
    return solve(Problem.of(claims, gpus=gpus, bounds=bounds)), is_met


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
