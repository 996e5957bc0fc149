"""Which single changes might start a waiting job now? Those that ask least of anybody first.

They are guesses: somebody else may come first once the change is made. `remedy_search` asks the
planner which of them is true.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.decisions.explanation import Closing, Remedy, RemedyKind
from autoscaler.planning.snapshot.cluster_state import JobPhase
from autoscaler.planning.snapshot.vocabulary import Preemptibility

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autoscaler.planning.decisions.explanation import Waiting
    from autoscaler.planning.outcomes.outcome import AllocationOutcome, PoolPicture
    from autoscaler.planning.snapshot.cluster_state import ClusterState, PlannedJob

_HIGHEST_PRIORITY: Final = 100


def candidates(job: PlannedJob, waiting: Waiting, state: ClusterState) -> Iterator[Remedy]:
    """Changes of the job, of its team's quota, another pool, a closed node, and more free GPUs."""
    yield from _fewer_workers(job, waiting)
    yield from _higher_priority(job, state)
    yield from _higher_quota(job, waiting, state)
    yield from _other_pools(job, waiting, state)
    yield from _reopened_nodes(waiting)
    yield from _more_gpus(job, waiting, state)


def remedy_for_refused(outcome: AllocationOutcome, picture: PoolPicture) -> Remedy | None:
    """Return what makes a job possible at all, read off the bounds that it does not fit into."""
    demand = outcome.demand
    needed, limit = demand.needed_gpus, picture.quotas[demand.job.team].limit_gpus
    room = picture.users.of(demand.job)
    own = room.limit if room else None
    bounds = (limit, own, picture.gpus_total)
    possible = min(bound for bound in bounds if bound is not None)
    fitting = possible // demand.job.gpus_per_worker
    if demand.job.allowed_workers is None and 0 < fitting < demand.job.min_workers:
        return Remedy(kind=RemedyKind.FEWER_WORKERS, workers=fitting)
    if own is not None and own < needed <= min(limit or needed, picture.gpus_total):
        return Remedy(kind=RemedyKind.RAISED_USER_LIMIT, gpus=needed)
    if limit is not None and limit < needed <= picture.gpus_total:
        return Remedy(kind=RemedyKind.RAISED_LIMIT, gpus=needed)
    return None


def _fewer_workers(job: PlannedJob, waiting: Waiting) -> Iterator[Remedy]:
    """The most that fit into what can be had, or into the team's guarantee; and one."""
    if job.allowed_workers is not None:
        return
    promised = waiting.team.guaranteed_gpus - waiting.team.planned_gpus
    own = waiting.user.limit_gpus - waiting.user.used_gpus if waiting.user else 0
    room = (waiting.available_gpus, promised, own, job.gpus_per_worker)
    for workers in dict.fromkeys(gpus // job.gpus_per_worker for gpus in room):
        if 0 < workers < job.min_workers:
            yield Remedy(kind=RemedyKind.FEWER_WORKERS, workers=workers)


def _higher_priority(job: PlannedJob, state: ClusterState) -> Iterator[Remedy]:
    """Above all others of the team: priorities count within it."""
    others = [
        other.priority
        for other in state.jobs
        if other.team == job.team and other.pool == job.pool and other.job_id != job.job_id
    ]
    enough = min(max(others, default=0) + 1, _HIGHEST_PRIORITY)
    if enough > job.priority:
        yield Remedy(kind=RemedyKind.HIGHER_PRIORITY, priority=enough)


def _higher_quota(job: PlannedJob, waiting: Waiting, state: ClusterState) -> Iterator[Remedy]:
    team = waiting.team
    enough = team.planned_gpus + waiting.needed_gpus
    if team.limit_gpus is not None and team.limit_gpus < enough <= waiting.pool_gpus:
        yield Remedy(kind=RemedyKind.RAISED_LIMIT, gpus=enough)
    if waiting.user is not None:
        wanted = waiting.user.used_gpus + waiting.needed_gpus
        if waiting.user.limit_gpus < wanted:
            yield Remedy(kind=RemedyKind.RAISED_USER_LIMIT, gpus=wanted)
    if job.preemptibility is Preemptibility.NON_PREEMPTIBLE:
        yield Remedy(kind=RemedyKind.PREEMPTIBLE)
    if enough > team.guaranteed_gpus and _can_be_promised(enough, waiting, state):
        yield Remedy(kind=RemedyKind.RAISED_GUARANTEE, gpus=enough)


def _can_be_promised(gpus: int, waiting: Waiting, state: ClusterState) -> bool:
    """True if the pool has them beside what others are promised, and the team's bounds allow it."""
    quotas = [quota for quota in state.quotas if quota.pool == waiting.pool]
    own = next((quota for quota in quotas if quota.team == waiting.team.team), None)
    if own is not None and (own.parent is not None or gpus > (own.limit_gpus or gpus)):
        return False
    others = [quota for quota in quotas if quota is not own and quota.parent is None]
    return gpus + sum(quota.guaranteed_gpus for quota in others) <= waiting.pool_gpus


def _other_pools(job: PlannedJob, waiting: Waiting, state: ClusterState) -> Iterator[Remedy]:
    known = {job.pool, *(one.name for one in job.other_pools)}
    for pool in state.pools:
        gpus = sum(node.gpus for node in pool.nodes if node.is_schedulable)
        if pool.name not in known and gpus >= waiting.needed_gpus:
            yield Remedy(kind=RemedyKind.OTHER_POOL, pool=pool.name)


def _reopened_nodes(waiting: Waiting) -> Iterator[Remedy]:
    """A node that does not answer is nobody's to open."""
    for node in waiting.closed_nodes:
        if node.closing is not Closing.SILENT:
            yield Remedy(kind=RemedyKind.REOPENED_NODE, node=node.name)


def _more_gpus(job: PlannedJob, waiting: Waiting, state: ClusterState) -> Iterator[Remedy]:
    """Count them for the job and all before it in the queue; or for all that wait."""
    if waiting.reason is JobReason.FRAGMENTED:
        yield Remedy(kind=RemedyKind.GPUS_TOGETHER, gpus=waiting.needed_gpus)
    elif waiting.reason is JobReason.WAITING_FOR_CAPACITY:
        missing = max(waiting.asked_gpus - waiting.available_gpus, 1)
        wanted = sum(
            other.min_workers * other.gpus_per_worker
            for other in state.jobs
            if other.pool == job.pool and other.phase is JobPhase.WAITING
        )
        for gpus in dict.fromkeys((missing, max(wanted, missing))):
            yield Remedy(kind=RemedyKind.FREE_GPUS, gpus=gpus)
