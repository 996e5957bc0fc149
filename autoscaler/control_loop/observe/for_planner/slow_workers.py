"""What does the planner learn of a job's slow workers?"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final

from autoscaler.control_loop.observe.jobs.job_view import LiveJob, WorkerView
from autoscaler.control_loop.observe.jobs.seats import free_gpus
from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.snapshot import cluster_state as planning
from jobs.models import Assignment
from jobs.queries.stragglers import LATELY, slow_nodes
from jobs.worker_phase import WorkerPhase

MOST_REPLACEMENTS: Final = 3  # of one job within the hour; guessed: then it is not the worker


def stragglers(view: LiveJob) -> list[WorkerView]:
    """Workers that train, slower than their peers; slowest first."""
    if not any(worker.row.is_straggler for worker in view.workers):
        return []
    slow = [w for w in view.members if w.row.is_straggler and w.row.phase == WorkerPhase.TRAINING]
    return sorted(slow, key=lambda worker: (worker.row.relative_speed or 0.0, worker.id))


def with_straggler(job: planning.PlannedJob, view: LiveJob, now: datetime) -> planning.PlannedJob:
    """The job with its slowest worker, and the nodes that no substitute should come to.

    Statements are made for jobs that have a straggler only.
    """
    slow = next(iter(stragglers(view)), None)
    if slow is None:
        return job
    replacements = Assignment.objects.filter(
        job_id=view.id, reason=JobReason.STRAGGLER, at__gt=now - LATELY
    )
    return replace(
        job,
        straggler=planning.Straggler(
            worker_id=slow.id,
            node=slow.node.name,
            relative_speed=slow.row.relative_speed or 0.0,
            may_be_replaced=replacements.count() < MOST_REPLACEMENTS,
        ),
        avoided_nodes=(
            *slow_nodes(now, team=view.job.team_id),
            *_without_another_gpu(slow, job.gpus_per_worker),
        ),
    )


def _without_another_gpu(slow: WorkerView, gpus: int) -> tuple[str, ...]:
    """Its node, where all that is free are slots on GPUs that the slow worker has."""
    node = slow.node
    its_own = node.cuda_names(claim.gpu_index for claim in slow.row.claims.all())
    others = [i for i in free_gpus([node.id])[node.id] if node.cuda_name(i) not in its_own]
    return (node.name,) if len(others) < gpus else ()
