"""Between which totals must each team's jobs stay, whatever the optimum would prefer?

A team gets its guarantee as far as its jobs can use it: sizes that make them no faster are no
demand. It never gets more than its limit, unless its jobs' smallest sizes already exceed it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from autoscaler.planning.change_cost import MIN_GAIN
from autoscaler.planning.optimizer import Bounds, reachable_totals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from autoscaler.planning.cluster_state import TeamQuota
    from autoscaler.planning.offers import Offer


def team_bounds(
    offers: Sequence[Offer], *, quotas: Mapping[str, TeamQuota], gpus: int
) -> tuple[Mapping[str, Bounds], bool]:
    """Bounds by team, and whether every guarantee and every limit is met in full.

    Guarantees are cut, in order of the teams' names, only where the pool is smaller than all of
    them together: nodes are gone, or more was promised than there is.
    """
    teams: defaultdict[str, list[Offer]] = defaultdict(list)
    for offer in offers:
        teams[offer.demand.job.team].append(offer)
    totals = {team: reachable_totals(o.claim() for o in own) for team, own in teams.items()}
    spare = gpus - sum(reachable[0] for reachable in totals.values())
    bounds: dict[str, Bounds] = {}
    is_met = spare >= 0
    for team in sorted(teams):
        reachable, quota = totals[team], quotas[team]
        most = None if quota.limit_gpus is None else max(quota.limit_gpus, reachable[0])
        wanted = min(quota.guaranteed_gpus, _useful_gpus(teams[team]))
        promised = _largest_within(reachable, wanted if most is None else min(wanted, most))
        least = _largest_within(reachable, min(promised, reachable[0] + max(spare, 0)))
        is_met = is_met and least == promised and (most is None or most == quota.limit_gpus)
        spare -= least - reachable[0]
        bounds[team] = Bounds(least=least, most=most)
    return bounds, is_met


def _useful_gpus(offers: Sequence[Offer]) -> int:
    """What the team's jobs have a use for together.

    A team that asks for more must gain clearly; one that holds it keeps it while it is of any use.
    Otherwise noise would move the same GPU to and fro.
    """
    clearly = sum(_useful(offer, 1 + MIN_GAIN) for offer in offers)
    at_all = sum(_useful(offer, 1.0) for offer in offers)
    held = sum(offer.demand.held_gpus for offer in offers)
    return max(clearly, min(at_all, held))


def _useful(offer: Offer, gain: float) -> int:
    """The largest size of which each step up still multiplies the speed by `gain`.

    A job that would not change on its own account, because it has just started or was rescaled
    too often, has a use for what it holds.
    """
    demand = offer.demand
    best = demand.sizes[0]
    for size in demand.sizes[1:]:
        if size.speedup >= gain * best.speedup:
            best = size
    present = demand.present
    if (
        present is not None
        and present in offer.sizes
        and offer.value_of(best) <= offer.value_of(present)
    ):
        best = present
    return best.workers * demand.job.gpus_per_worker


def _largest_within(reachable: Sequence[int], at_most: int) -> int:
    return max((total for total in reachable if total <= at_most), default=reachable[0])
