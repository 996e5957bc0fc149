"""Which processes have to end, and when is a job at its end?

The coordinator of a hot job lets its workers pause: they write a checkpoint and leave on their
own. Everybody else gets SIGTERM, and SIGKILL after the grace period: the job's own, or what
`reclaiming` leaves of it; next to none if it writes more than it may.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from cluster.worker_host import ObservedProcess, ProcessPhase

from autoscaler.reconciling.assessments import reclaiming
from autoscaler.reconciling.assessments.lateness import longest_wait
from autoscaler.reconciling.instructions import (
    NOTHING,
    Finish,
    Forget,
    Instructions,
    StopProcess,
)
from autoscaler.reconciling.rules.ending import limits
from autoscaler.reconciling.rules.ending.disk import may_not_write_on
from autoscaler.reconciling.snapshot import JobSnapshot
from autoscaler.reconciling.worker_snapshot import (
    WorkerSnapshot,
)
from concertina_worker.protocol import ExitCode
from jobs.lifecycle import JobState
from jobs.worker_phase import WorkerPhase

_LEAVE_ON_THEIR_OWN: Final = {JobState.PAUSED, JobState.QUEUED}


def stop_workers(job: JobSnapshot) -> Instructions:
    """Let those end that should have. The order is repeated in every tick, which does no harm."""
    there = [worker for worker in job.live if worker.is_there]
    graces = [(worker, _grace_seconds(worker, job)) for worker in there]
    return tuple(StopProcess(worker.id, grace) for worker, grace in graces if grace is not None)


def finish(job: JobSnapshot) -> Instructions:
    """All workers have gone, and the coordinator has said its last word: the job is at its end."""
    coordinator = job.coordinator
    if job.live:
        return NOTHING
    if coordinator.process is None:
        return (Finish(),)
    return _see_off(coordinator.process, job)


def _grace_seconds(worker: WorkerSnapshot, job: JobSnapshot) -> float | None:
    """Return how long it has to end; None: it goes on for now."""
    if job.state is JobState.STOPPING:
        return _grace_seconds_of_stopping(job)
    if worker.id in job.wanted:
        return None
    if not job.is_hot:
        return reclaiming.grace_seconds(job)
    if worker.phase is WorkerPhase.STARTING or not job.is_active:
        return job.limits.kill_grace
    is_overdue = job.assignment is not None and (
        job.seconds_since_ready(job.assignment.at) > _leaving_seconds(job) or reclaiming.is_due(job)
    )
    return job.limits.kill_grace if is_overdue else None


def _leaving_seconds(job: JobSnapshot) -> float:
    """A leaver still trains in the middle of a rescale, until all joiners are ready."""
    own = job.spec.elastic.grace_period
    if job.state is JobState.RUNNING:
        return own
    return own + job.spec.elastic.registration_timeout + longest_wait(job)


def _grace_seconds_of_stopping(job: JobSnapshot) -> float | None:
    if may_not_write_on(job):
        return job.limits.kill_grace
    leaves_on_its_own = job.is_hot and (
        job.ends_as in _LEAVE_ON_THEIR_OWN or job.reason in limits.REASONS
    )
    if not leaves_on_its_own or not any(worker.has_registered for worker in job.live):
        return reclaiming.grace_seconds(job)
    own = job.spec.elastic.grace_period
    is_overdue = job.seconds_since(job.state_since) > own or reclaiming.is_due(job)
    return job.limits.kill_grace if is_overdue else None


def _see_off(coordinator: ObservedProcess, job: JobSnapshot) -> Instructions:
    process_id = coordinator.labels.process_id
    is_overdue = _has_had_its_time(job)
    if coordinator.phase is not ProcessPhase.EXITED:
        stop = StopProcess(process_id, grace_seconds=job.limits.kill_grace)
        return (stop,) if is_overdue else NOTHING
    has_said_all = coordinator.exit_code == ExitCode.COMPLETED
    if has_said_all or is_overdue:
        return (Forget(process_id),)
    return NOTHING  # `launching` starts it again, to say the rest


def _has_had_its_time(job: JobSnapshot) -> bool:
    """Its farewell is over. One that has spoken before, and not since, may be cut off meanwhile.

    It may have more to tell, and is given more time, unless the job starts again: the next
    coordinator tells it then.
    """
    gone = [worker.gone_at for worker in job.workers if worker.gone_at]
    alone_since = max([*gone, job.state_since])
    seen_at, limits = job.coordinator.seen_at, job.limits
    farewell = timedelta(seconds=limits.coordinator_farewell)
    is_cut_off = seen_at is not None and seen_at < alone_since + farewell
    is_last = job.ends_as is not JobState.QUEUED
    patience = limits.cut_off_farewell if is_cut_off and is_last else limits.coordinator_farewell
    return job.seconds_since(alone_since) > patience
