"""What is a pool worth to a job? Its speed there, less what the jobs there lose by its coming.

    worth = speed of the job there - speed that others lose

Speeds count in multiples of a job's smallest size; those of one job in several pools in multiples
of the slowest of these. Where it was never measured it is taken to be as fast as where it was, so
the number of GPUs decides until it has run there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from autoscaler.planning.decisions.pool_offer import PoolAnswer, PoolOffer
from autoscaler.planning.demand import demand_of
from autoscaler.planning.pool_choice.crowding import UsableGpus

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from autoscaler.planning.demand import Demand, Size
    from autoscaler.planning.policies import Policy
    from autoscaler.planning.pool_choice.crowding import PoolCrowd
    from autoscaler.planning.snapshot.cluster_state import PlannedJob, PlannedPool

ALIKE: Final = 0.95  # guessed: of pools that are worth nearly the same, the cheaper one
KEEPS: Final = 0.9  # guessed: a job stays where it is unless another pool is worth more than this


@dataclass(frozen=True, slots=True, kw_only=True)
class PossiblePool:
    """A job seen in one of its pools, as that pool's policy restricts it."""

    pool: PlannedPool
    demand: Demand
    sizes: tuple[Size, ...]  # all that are of use to it there, also those it may not try yet
    is_measured: bool


def pools_of(
    job: PlannedJob, pools: Mapping[str, PlannedPool], policies: Mapping[str, Policy]
) -> list[PossiblePool]:
    """Return those that are planned and where it fits in some size, its own first."""
    names = [name for name in (job.pool, *(one.name for one in job.other_pools)) if name in pools]
    there = {name: job.in_pool(name) for name in names}
    known = next((one.scaling for one in there.values() if one.scaling is not None), None)
    found = []
    for name, seen in there.items():
        assumed = replace(seen, scaling=seen.scaling or known)
        demand = demand_of(policies[name].restrict(assumed), pools[name])
        sizes = tuple(s for s in (*demand.sizes, *demand.larger) if _is_of_use(s, demand))
        if sizes:
            is_measured = seen.scaling is not None and seen.scaling.measured_workers > 0
            found.append(
                PossiblePool(pool=pools[name], demand=demand, sizes=sizes, is_measured=is_measured)
            )
    return found


def _is_of_use(size: Size, demand: Demand) -> bool:
    """Tell whether the size pays; of a job that was not measured yet, nobody knows which do."""
    return not size.samples_per_second or size.workers <= demand.useful_workers


def use_of(demand: Demand) -> UsableGpus | None:
    """Return what a job of the pool can use of it; None: nothing."""
    sizes = demand.sizes
    if not sizes:
        return None
    return _use(sizes, [size.speedup for size in sizes], demand)


def uses_in(possible: Sequence[PossiblePool]) -> list[UsableGpus]:
    """Return what one job could use in each of these pools, with speeds that are comparable."""
    speeds = [[_goodput(size) for size in one.sizes] for one in possible]
    if not all(all(of_pool) for of_pool in speeds):  # nothing is known of it anywhere
        speeds = [[size.speedup for size in one.sizes] for one in possible]
    slowest = min(of_pool[0] for of_pool in speeds)
    return [
        _use(one.sizes, [speed / slowest for speed in of_pool], one.demand)
        for one, of_pool in zip(possible, speeds, strict=True)
    ]


def _goodput(size: Size) -> float:
    return size.samples_per_second * size.efficiency


def _use(sizes: Iterable[Size], speeds: Sequence[float], demand: Demand) -> UsableGpus:
    gpus = [size.workers * demand.job.gpus_per_worker for size in sizes]
    return UsableGpus(gpus=gpus, speeds=speeds)


def offer_of(
    one: PossiblePool, use: UsableGpus, crowd: PoolCrowd, *, limit_gpus: int | None
) -> PoolOffer:
    """Return what the pool is worth to the job as crowded as it is, within its team's limit."""
    share = crowd.share_of(use)
    if limit_gpus is not None and limit_gpus < use.gpus[0]:
        share = None
    at = 0 if share is None else share.at
    if limit_gpus is not None:
        at = min(at, use.at(limit_gpus))
    return PoolOffer(
        pool=one.pool.name,
        is_chosen=False,
        answer=PoolAnswer.NOT_ASKED,
        workers=0 if share is None else one.sizes[at].workers,
        speed=use.speeds[at],
        loss=0.0 if share is None else share.loss,
        is_measured=one.is_measured,
        dollars_per_gpu_hour=one.pool.dollars_per_gpu_hour,
    )


def in_order(
    offers: Sequence[PoolOffer], *, home: str, promised: Collection[str] = ()
) -> list[PoolOffer]:
    """Return them best first.

    Those with room come first. Of those that are worth nearly the same one does in which the job
    uses what its team is guaranteed, for what it borrows it may have to give back, and then the
    cheaper one. A job stays where it is unless another pool is worth clearly more, or costs clearly
    less: what is measured moves a little all the time, and a job shall not go to and fro with it.

    Args:
        offers: of one job.
        home: the pool where it is already.
        promised: pools in which its team's guarantee has room for it.
    """
    left, found = list(offers), []
    while left:
        found.append(_best_of(left, home, promised))
        left.remove(found[-1])
    return found


def _best_of(offers: Sequence[PoolOffer], home: str, promised: Collection[str]) -> PoolOffer:
    with_room = [one for one in offers if one.workers] or offers
    most = max(one.worth for one in with_room)
    alike = [one for one in with_room if one.worth >= _part(most, ALIKE)]
    best = min(  # of equals the first
        alike, key=lambda one: (one.pool not in promised, one.dollars_per_gpu_hour)
    )
    here = next((one for one in with_room if one.pool == home), None)
    if here is None or best is here:
        return best
    is_much_better = here.worth < _part(best.worth, KEEPS)
    is_much_cheaper = best.dollars_per_gpu_hour < KEEPS * here.dollars_per_gpu_hour
    is_promised = best.pool in promised and here.pool not in promised
    return best if is_much_better or is_much_cheaper or is_promised else here


def _part(worth: float, part: float) -> float:
    """Return a little less than it, also of what is worth less than nothing."""
    return worth - (1 - part) * abs(worth)
