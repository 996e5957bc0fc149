"""How many workers, and which batch, does each admitted job get? Values in, optimum out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from autoscaler.planning.allocation.offers import Offer
from autoscaler.planning.optimizer import Problem, Solution, solve

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from autoscaler.planning.allocation.guarantees import TeamBounds
    from autoscaler.planning.demand import Demand, Size


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """The optimum: a size per job. `solution` None: nothing fits, so everything stays."""

    sizes: Mapping[str, Size]
    offers: Mapping[str, Offer]
    solution: Solution | None


def split(
    offers: Sequence[Offer],
    *,
    bounds: Callable[[Sequence[Offer]], TeamBounds],
    now: float,
) -> Split:
    """The best sizes. Jobs changed a short while ago stay, unless a guarantee needs their GPUs."""
    calm = [_calm(offer, _stays, now) for offer in offers]
    solution, is_met = _solve(calm, bounds)
    if solution is None or not is_met:
        calm = [_calm(offer, _does_not_grow, now) for offer in offers]
        solution, _ = _solve(calm, bounds)
    chosen = solution.chosen[: len(calm)].tolist() if solution else []
    return Split(
        sizes={
            offer.demand.job.job_id: offer.sizes[index]
            for offer, index in zip(calm, chosen, strict=False)
        },
        offers={offer.demand.job.job_id: offer for offer in offers},
        solution=solution,
    )


def _solve(
    offers: Sequence[Offer], bounds: Callable[[Sequence[Offer]], TeamBounds]
) -> tuple[Solution | None, bool]:
    within = bounds(offers)
    claims = [*(offer.claim for offer in offers), *within.kept]
    problem = Problem.of(claims, gpus=within.gpus, bounds=within.by_team, parents=within.parents)
    return solve(problem), within.are_met


def is_cooling(demand: Demand, now: float) -> bool:
    changed_at = demand.job.last_rescaled_at
    return (
        demand.held > 0
        and changed_at is not None
        and now - changed_at < demand.job.min_interval_seconds
    )


def _calm(offer: Offer, rule: Callable[[Demand, Size], bool], now: float) -> Offer:
    """What the policy wants of the job; of one that was changed a short while ago less."""
    if is_cooling(offer.demand, now):
        offer = offer.restricted(lambda size: rule(offer.demand, size))
    return offer.wanted


def _stays(demand: Demand, size: Size) -> bool:
    return size == demand.present


def _does_not_grow(demand: Demand, size: Size) -> bool:
    return size.workers <= demand.held
