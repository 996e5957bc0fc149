"""Between which totals must each team's jobs stay, whatever the optimum would prefer?

A team gets its guarantee as far as its jobs can use it: sizes that make them no faster are no
demand. It never gets more than its limit, unless its jobs' smallest sizes already exceed it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autoscaler.planning.optimizer import Bounds, reachable_totals
from autoscaler.planning.policies import MIN_GAIN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from autoscaler.planning.cluster_state import TeamQuota
    from autoscaler.planning.demand import Demand
    from autoscaler.planning.optimizer import Claim


def team_bounds(
    claims: Mapping[str, Sequence[Claim]],
    demands: Mapping[str, Sequence[Demand]],
    *,
    quotas: Mapping[str, TeamQuota],
    gpus: int,
) -> tuple[Mapping[str, Bounds], bool]:
    """Bounds by team, and whether every guarantee and every limit is met in full.

    Guarantees are cut, in order of the teams' names, only where the pool is smaller than all of
    them together: nodes are gone, or more was promised than there is.
    """
    totals = {team: reachable_totals(own) for team, own in claims.items()}
    spare = gpus - sum(reachable[0] for reachable in totals.values())
    bounds: dict[str, Bounds] = {}
    is_met = spare >= 0
    for team in sorted(claims):
        reachable, quota = totals[team], quotas[team]
        most = None if quota.limit_gpus is None else max(quota.limit_gpus, reachable[0])
        wanted = min(quota.guaranteed_gpus, _useful_gpus(demands[team]))
        promised = _largest_within(reachable, wanted if most is None else min(wanted, most))
        least = _largest_within(reachable, min(promised, reachable[0] + max(spare, 0)))
        is_met = is_met and least == promised and (most is None or most == quota.limit_gpus)
        spare -= least - reachable[0]
        bounds[team] = Bounds(least=least, most=most)
    return bounds, is_met


def _useful_gpus(demands: Sequence[Demand]) -> int:
    """What the team's jobs have a use for together.

    A team that asks for more must gain clearly; one that holds it keeps it while it is of any use.
    Otherwise noise would move the same GPU to and fro.
    """
    clearly = sum(_useful(demand, 1 + MIN_GAIN) for demand in demands)
    at_all = sum(_useful(demand, 1.0) for demand in demands)
    held = sum(demand.held_gpus for demand in demands)
    return max(clearly, min(at_all, held))


def _useful(demand: Demand, gain: float) -> int:
    """The largest size of which each step up still multiplies the speed by `gain`."""
    best = demand.sizes[0]
    for size in demand.sizes[1:]:
        if size.speedup >= gain * best.speedup:
            best = size
    return best.workers * demand.job.gpus_per_worker


def _largest_within(reachable: Sequence[int], at_most: int) -> int:
    return max((total for total in reachable if total <= at_most), default=reachable[0])
