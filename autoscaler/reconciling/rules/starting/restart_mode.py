"""How does a job that knows nothing of us change its workers? All end, then the new set starts.

Its generations are counted here, because no coordinator reports them.
"""

from __future__ import annotations

from autoscaler.job_vocabulary import JobReason
from autoscaler.reconciling.endings import AT_THE_END
from autoscaler.reconciling.instructions import (
    NOTHING,
    BeginGeneration,
    Instructions,
    SeatNextSet,
    Stop,
)
from autoscaler.reconciling.questions import HasRoomForNextSet
from autoscaler.reconciling.snapshot import JobSnapshot
from autoscaler.reconciling.worker_snapshot import WorkerSnapshot
from jobs.lifecycle import JobState


def seat_next_set(job: JobSnapshot) -> Instructions:
    """The old workers have gone: give the new ones their GPUs."""
    if not job.is_between_sets or job.live:
        return NOTHING
    if job.answer_to(HasRoomForNextSet()):
        return (SeatNextSet(),)
    stop = Stop(
        ends_as=JobState.QUEUED,
        reason=JobReason.WAITING_FOR_CAPACITY,
        message="The GPUs for its new workers are gone; waits for others.",
    )
    return (stop,)


def begin_generation(job: JobSnapshot) -> Instructions:
    """All processes run, or have run to their end: from now on the job counts as training."""
    if job.is_between_sets or set(job.live) - set(job.members):
        return NOTHING
    if not job.staying or not all(_has_begun(worker) for worker in job.members):
        return NOTHING
    last = job.generation
    is_rescale = job.state is JobState.RESCALING and last is not None
    begin = BeginGeneration(
        number=last.number + 1 if last else 1,
        is_first=last is None,
        is_rescale=is_rescale,
        stall_seconds=job.seconds_since(job.state_since) if is_rescale else 0.0,
    )
    return (begin,)


def _has_begun(worker: WorkerSnapshot) -> bool:
    return worker.is_running or worker.ending in AT_THE_END
