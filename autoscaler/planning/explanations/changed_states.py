"""What would the snapshot be with one change made, and nothing else?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from autoscaler.planning.decisions.explanation import RemedyKind
from autoscaler.planning.snapshot.cluster_state import PlannedNode, TeamQuota
from autoscaler.planning.snapshot.vocabulary import Preemptibility

if TYPE_CHECKING:
    from autoscaler.planning.decisions.explanation import Remedy
    from autoscaler.planning.snapshot.cluster_state import ClusterState, PlannedJob


def with_remedy(state: ClusterState, job_id: str, remedy: Remedy) -> ClusterState:  # noqa: PLR0911 - one for each remedy
    job = next(job for job in state.jobs if job.job_id == job_id)
    match remedy.kind:
        case RemedyKind.HIGHER_PRIORITY:
            return _with_job(state, job, priority=remedy.priority)
        case RemedyKind.FEWER_WORKERS:
            return _with_job(state, job, min_workers=remedy.workers)
        case RemedyKind.PREEMPTIBLE:
            return _with_job(state, job, preemptibility=Preemptibility.PREEMPTIBLE)
        case RemedyKind.OTHER_POOL:
            return _in_pool(state, job, remedy.pool or job.pool)
        case RemedyKind.RAISED_LIMIT | RemedyKind.RAISED_USER_LIMIT | RemedyKind.RAISED_GUARANTEE:
            return _with_higher_quota(state, job, remedy)
        case RemedyKind.FREE_GPUS | RemedyKind.GPUS_TOGETHER:
            return _with_gpus(state, job.pool, remedy.gpus or 0)
        case RemedyKind.REOPENED_NODE:
            return _with_open_node(state, job.pool, remedy.node or "")
        case RemedyKind.PATIENCE | RemedyKind.NONE:
            return state


def _with_job(state: ClusterState, job: PlannedJob, **changes: Any) -> ClusterState:
    changed = replace(job, **changes)
    return replace(state, jobs=tuple(changed if one is job else one for one in state.jobs))


def _in_pool(state: ClusterState, job: PlannedJob, name: str) -> ClusterState:
    """Put the job into a pool; its measurements hold on GPUs of the same type only."""
    types = {pool.name: pool.gpu_type for pool in state.pools}
    is_alike = types.get(job.pool) == types[name]
    scaling = job.scaling if is_alike else None
    return _with_job(state, job, pool=name, other_pools=(), scaling=scaling)


def _with_higher_quota(state: ClusterState, job: PlannedJob, remedy: Remedy) -> ClusterState:
    match remedy.kind:
        case RemedyKind.RAISED_LIMIT:
            return _with_quota(state, job, limit_gpus=remedy.gpus)
        case RemedyKind.RAISED_USER_LIMIT:
            return _with_user_limit(state, job.team, remedy.gpus or 0)
        case _:
            return _with_quota(state, job, guaranteed_gpus=remedy.gpus)


def _with_quota(state: ClusterState, job: PlannedJob, **changes: Any) -> ClusterState:
    """A team without a quota in the pool gets one."""
    place = (job.team, job.pool)
    others = [quota for quota in state.quotas if (quota.team, quota.pool) != place]
    own = next((quota for quota in state.quotas if (quota.team, quota.pool) == place), None)
    own = own or TeamQuota(team=job.team, pool=job.pool, guaranteed_gpus=0)
    return replace(state, quotas=(*others, replace(own, **changes)))


def _with_user_limit(state: ClusterState, team: str, gpus: int) -> ClusterState:
    """It holds in all pools."""
    quotas = [
        replace(quota, user_limit_gpus=gpus) if quota.team == team else quota
        for quota in state.quotas
    ]
    return replace(state, quotas=tuple(quotas))


def _with_open_node(state: ClusterState, name: str, node: str) -> ClusterState:
    def opened(one: PlannedNode) -> PlannedNode:
        return replace(one, is_schedulable=True, is_draining=False) if one.name == node else one

    pools = [
        replace(pool, nodes=tuple(map(opened, pool.nodes))) if pool.name == name else pool
        for pool in state.pools
    ]
    return replace(state, pools=tuple(pools))


def _with_gpus(state: ClusterState, name: str, gpus: int) -> ClusterState:
    """Free ones, on a node of their own."""
    more = PlannedNode(name="more", gpus=gpus)
    pools = [
        replace(pool, nodes=(*pool.nodes, more)) if pool.name == name else pool
        for pool in state.pools
    ]
    return replace(state, pools=tuple(pools))
