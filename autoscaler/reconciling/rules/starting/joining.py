"""Do all workers that should train arrive? Those that do not must not hold up the others.

What a coordinator has not said for a while is unknown, not late: while the service cannot be
reached, nobody is dropped for lack of a report.
"""

from __future__ import annotations

from collections.abc import Sequence

from cluster.worker_host import ObservedProcess

from autoscaler.job_vocabulary import EventKind, JobReason
from autoscaler.reconciling.assessments import reclaiming
from autoscaler.reconciling.assessments.lateness import (
    has_had_its_time,
    longest_wait,
    waited_seconds,
)
from autoscaler.reconciling.endings import AT_THE_END, NEVER_RAN
from autoscaler.reconciling.instructions import NOTHING, Instructions, Reassign, Tell
from autoscaler.reconciling.rules.ending.stops import count_as_failure, fail
from autoscaler.reconciling.snapshot import JobSnapshot
from autoscaler.reconciling.words import go_on, listed
from autoscaler.reconciling.worker_snapshot import (
    WorkerSnapshot,
    ids,
)


def go_on_without_the_gone(job: JobSnapshot) -> Instructions:
    """A worker ended before the change it was part of was over: change without it.

    Unless it ran to its end, for then the others are about to do so too.
    """
    gone = [worker for worker in job.members if worker.is_gone]
    if job.is_between_sets or any(worker.ending in AT_THE_END for worker in gone):
        return NOTHING
    if not gone or not job.staying:
        return NOTHING
    refused = next((w for w in gone if w.ending in NEVER_RAN and w.error), None)
    why = f" ({refused.error.rstrip('.')})" if refused else ""
    going_on = len(job.staying) + len(called_back(job))
    message = f"{listed(ids(gone))} ended before it joined{why}; {go_on(going_on)}."
    return _reduce(job, job.staying, message)


def drop_late_joiners(job: JobSnapshot) -> Instructions:
    """A worker that has had its time and is not ready is dropped, if any other is ready."""
    ready = [worker for worker in job.members if worker.has_registered]
    if not ready or not job.is_heard:
        return NOTHING
    late = [worker for worker in job.members if has_had_its_time(worker, job)]
    seconds = max((waited_seconds(worker, job) for worker in late), default=0.0)
    why = f"was not ready after {seconds:.0f} s"
    coming = [worker for worker in job.staying if not worker.has_registered]
    if coming and not late and reclaiming.is_due(job):
        late, why = coming, "was not ready, and another team claims what it is guaranteed"
    if not late:
        return NOTHING
    going_on = len(ready) + len(called_back(job))
    message = f"{listed(ids(late))} {why}; {go_on(going_on)}."
    return _reduce(job, [worker for worker in job.members if worker not in late], message)


def give_up_preparations(job: JobSnapshot) -> Instructions:
    """Give up what takes so long that it will never be ready."""
    hopeless = _endless(job)
    if not hopeless:
        return NOTHING
    names = {process.labels.process_id for process in hopeless}
    left = [worker for worker in job.members if worker.id not in names]
    minutes = job.limits.preparation / 60
    why = f"could not be made ready to run within {minutes:.0f} min: {hopeless[0].note}"
    if job.is_hot and any(worker.has_registered for worker in left):
        late = [worker for worker in job.members if worker.id in names]
        return _reduce(job, left, f"{listed(ids(late))} {why}") if late else NOTHING
    message = f"{listed(sorted(names))} {why}. Submit again, or ask an admin for the cause."
    return (fail(JobReason.IMAGE_UNAVAILABLE, message),)


def give_up_stuck_changes(job: JobSnapshot) -> Instructions:
    """Everybody is there and heard, and still nothing moves: start again from a checkpoint."""
    if not job.is_heard or job.is_starting_over:
        return NOTHING  # while nobody has registered yet, it is late and not stuck
    own = longest_wait(job) + job.spec.elastic.grace_period
    if job.seconds_since_ready(job.state_since) < job.limits.stuck_change + own:
        return NOTHING
    why = f"Did not come out of `{job.state}` for {job.limits.stuck_change:.0f} s."
    remedy = "All its workers were there and nothing moved: tell an admin."
    return (count_as_failure(job, reason=JobReason.STUCK, why=why, remedy=remedy),)


def called_back(job: JobSnapshot) -> list[WorkerSnapshot]:
    """Return who was to leave for a substitute that did not come, and still trains: it stays."""
    replaced = job.assignment.replaces if job.assignment else None
    return [worker for worker in job.live if worker.id == replaced and worker.is_running]


def _endless(job: JobSnapshot) -> tuple[ObservedProcess, ...]:
    """Return what has been in preparation for so long that nothing will come of it."""
    most = job.limits.preparation
    return tuple(p for p in job.in_preparation if job.seconds_since(p.started_at) > most)


def _reduce(job: JobSnapshot, left: Sequence[WorkerSnapshot], message: str) -> Instructions:
    return (
        Reassign(workers=tuple(ids([*left, *called_back(job)])), message=message),
        Tell(kind=EventKind.JOINER_DROPPED, reason=JobReason.NODE_LOST, message=message),
    )
