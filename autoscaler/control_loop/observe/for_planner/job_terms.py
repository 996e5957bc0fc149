"""What did the user of a stored job ask for? The one place where the planner's terms are read."""

from __future__ import annotations

from cluster.models import Pool

from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.planning.snapshot.job_terms import BatchRange, JobTerms, Utility
from jobs.changes import batch_limit


def terms(view: LiveJob) -> JobTerms:
    """Raises whatever a spec that was stored by an older release makes it raise."""
    job, spec = view.job, view.spec
    return JobTerms(
        name=job.name,
        team=job.team.name,
        pool=job.pool.name,
        submitted_at=job.submitted_at.timestamp(),
        batch=batch_range(view, job.pool),
        min_workers=spec.elastic.min_workers,
        max_workers=spec.elastic.max_workers,
        allowed_workers=spec.elastic.listed_counts(),
        worker_step=spec.elastic.worker_step,
        gpus_per_worker=spec.resources.gpus_per_worker,
        priority=job.priority,
        preemptibility=spec.preemptibility,
        deadline=spec.deadline.timestamp() if spec.deadline else None,
        requested_workers=spec.elastic.requested_workers,
        utility=_utility(view),
        min_interval_seconds=spec.elastic.min_interval,
        user=job.submitted_by,
    )


def batch_range(view: LiveJob, pool: Pool) -> BatchRange:
    """Return the range asked for, within what is known to fit into the memory of a pool's GPUs."""
    bounds = view.spec.batch.bounds()
    return BatchRange(
        base=bounds.base,
        minimum=bounds.minimum,
        maximum=bounds.maximum,
        multiple_of=bounds.multiple_of,
        max_per_gpu=batch_limit.of(
            view.job, view.spec.batch.max_per_worker, gpu_type=pool.gpu_type
        ),
        accumulation=bounds.has_accumulation,
    )


def _utility(view: LiveJob) -> Utility | None:
    points = view.spec.utility
    if points is None:
        return None
    return Utility(points=tuple((point.after, point.dollars) for point in points))
