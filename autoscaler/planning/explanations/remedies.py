"""Which one change would start a waiting job now? The one that asks least of anybody.

Read off the plan, not found by planning again: with that change made, and nothing else, the planner
starts the job unless somebody else then comes first, which in random clusters happens once in six
times. Where no single change is known to help, there is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autoscaler.planning.cluster_state import Preemptibility
from autoscaler.planning.decisions import Reason
from autoscaler.planning.explanations.values import Remedy, RemedyKind

if TYPE_CHECKING:
    from autoscaler.planning.outcome import Outcome, PoolPicture


def remedy_for(outcome: Outcome, reason: Reason, picture: PoolPicture) -> Remedy | None:
    match reason:
        case Reason.WAITING_FOR_QUOTA:
            return _of_quota(outcome, picture)
        case Reason.WAITING_FOR_RECLAIM if outcome.job_id in picture.admission.guaranteed:
            return Remedy(kind=RemedyKind.PATIENCE)
        case Reason.WAITING_FOR_CAPACITY:
            return _of_capacity(outcome, picture)
        case Reason.FRAGMENTED:
            gpus = outcome.demand.needed_gpus
            return Remedy(kind=RemedyKind.GPUS_TOGETHER, gpus=gpus)
        case _:
            return None


def remedy_for_refused(outcome: Outcome, picture: PoolPicture) -> Remedy | None:
    demand = outcome.demand
    needed, limit = demand.needed_gpus, picture.quotas[demand.job.team].limit_gpus
    fitting = picture.gpus_total if limit is None else min(limit, picture.gpus_total)
    if (workers := _fewer_workers(outcome, fitting)) is not None:
        return Remedy(kind=RemedyKind.FEWER_WORKERS, workers=workers)
    if limit is not None and limit < needed <= picture.gpus_total:
        return Remedy(kind=RemedyKind.RAISED_LIMIT, gpus=needed)
    return None


def _of_quota(outcome: Outcome, picture: PoolPicture) -> Remedy | None:
    """Something within the team's power helps only where the GPUs themselves are there."""
    demand = outcome.demand
    if demand.needed_gpus > picture.admission.gpus_free:
        return None
    quota, used = picture.quotas[demand.job.team], picture.planned_by_team[demand.job.team]
    if quota.limit_gpus is not None and used + demand.needed_gpus > quota.limit_gpus:
        return Remedy(kind=RemedyKind.RAISED_LIMIT, gpus=used + demand.needed_gpus)
    if demand.job.preemptibility is Preemptibility.NON_PREEMPTIBLE:
        return Remedy(kind=RemedyKind.PREEMPTIBLE)
    return Remedy(kind=RemedyKind.RAISED_LIMIT, gpus=used + demand.needed_gpus)


def _of_capacity(outcome: Outcome, picture: PoolPicture) -> Remedy:
    """Fewer workers where that is enough; else GPUs for itself and all that stand before it."""
    free = picture.admission.gpus_free
    if (workers := _fewer_workers(outcome, free)) is not None:
        return Remedy(kind=RemedyKind.FEWER_WORKERS, workers=workers)
    ahead = picture.gpus_asked_up_to(outcome)
    return Remedy(kind=RemedyKind.FREE_GPUS, gpus=max(ahead - free, 1))


def _fewer_workers(outcome: Outcome, gpus: int) -> int | None:
    """The most workers that fit, where the job's own range is all that stands against them."""
    job = outcome.demand.job
    fitting = gpus // job.gpus_per_worker
    if job.allowed_workers is not None or not 0 < fitting < job.min_workers:
        return None
    return fitting
