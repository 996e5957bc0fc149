"""Which workers hold a GPU for nothing? Those that run on though the others went on without."""

from __future__ import annotations

from autoscaler.reconciling.instructions import NOTHING, Instructions, StopProcess
from autoscaler.reconciling.snapshot import JobSnapshot
from jobs.worker_phase import WorkerPhase


def kill_given_up_workers(job: JobSnapshot) -> Instructions:
    """Kill a worker at once of which its coordinator says that it hangs."""
    hung = [worker for worker in job.live if worker.is_given_up and worker.is_running]
    return tuple(StopProcess(worker.id, grace_seconds=0.0) for worker in hung)


def kill_left_out_workers(job: JobSnapshot) -> Instructions:
    """Kill them after a while, as one that trained may be about to end by itself."""
    newest = job.generation
    if newest is None or newest.ended_at is not None:
        return NOTHING
    if job.seconds_since(newest.began_at) < job.limits.hung_worker:
        return NOTHING
    left_out = [
        worker
        for worker in job.members
        if worker.id not in newest.worker_ids
        and worker.is_running
        and worker.phase is WorkerPhase.TRAINING
    ]
    return tuple(StopProcess(worker.id, grace_seconds=0.0) for worker in left_out)
