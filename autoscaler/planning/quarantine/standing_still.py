"""How does a plan count a job that it cannot look into? As one that stays where it stands.

Its GPUs stay taken and its team's use is counted; nothing else of its data is read. It neither
grows nor shrinks. It can be paused where it could before: else whoever makes a job that cannot be
planned would keep what is lent for ever.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from autoscaler.planning.snapshot.cluster_state import Allocation, JobPhase, PlannedJob
from autoscaler.planning.snapshot.job_terms import BatchRange
from autoscaler.planning.snapshot.vocabulary import Preemptibility

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.cluster_state import ClusterState

_ANY_BATCH = 1


def standing_still(job: PlannedJob) -> PlannedJob | None:
    """The job with nothing but what it holds; None for one that waits, which holds nothing."""
    if job.phase is JobPhase.WAITING:
        return None
    return holder(
        job_id=job.job_id,
        name=job.name,
        team=job.team,
        pool=job.pool,
        priority=job.priority,
        preemptibility=job.preemptibility,
        submitted_at=job.submitted_at,
        gpus_per_worker=job.gpus_per_worker,
        held=job.allocation,
        target=job.target,
        can_pause=job.can_rescale or job.can_pause,
        user=job.user,
    )


def holder(
    *,
    job_id: str,
    name: str,
    team: str,
    pool: str,
    priority: int,
    preemptibility: Preemptibility,
    submitted_at: float,
    gpus_per_worker: int,
    held: Allocation | None,
    target: Allocation | None,
    can_pause: bool,
    user: str,
) -> PlannedJob:
    """An active job of which only what it holds, and will hold, is known."""
    workers = max(held.workers if held else 0, target.workers if target else 0, 1)
    return PlannedJob(
        job_id=job_id,
        name=name,
        team=team,
        pool=pool,
        phase=JobPhase.ACTIVE,
        priority=priority,
        preemptibility=preemptibility,
        submitted_at=submitted_at,
        started_at=submitted_at,
        min_workers=workers,
        max_workers=workers,
        allowed_workers=None,
        gpus_per_worker=gpus_per_worker,
        batch=BatchRange(base=workers, minimum=workers, maximum=workers, multiple_of=_ANY_BATCH),
        allocation=_without_batch(held, workers),
        target=None if target is None else _without_batch(target, workers),
        can_rescale=False,
        can_pause=can_pause,
        is_measurable=False,
        user=user,
    )


def with_only(state: ClusterState, job_ids: frozenset[str]) -> ClusterState:
    """The snapshot in which all other jobs stand still, or are not there if they wait."""
    seen = (job if job.job_id in job_ids else standing_still(job) for job in state.jobs)
    return replace(state, jobs=tuple(job for job in seen if job is not None))


def _without_batch(allocation: Allocation | None, workers: int) -> Allocation:
    places = allocation.workers_by_node if allocation else ()
    return Allocation(workers_by_node=places, global_batch_size=workers)
