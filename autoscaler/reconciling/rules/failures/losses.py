"""What follows when no worker is left to go on? The same attempt again, unless it is hopeless."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from cluster.worker_host import Failing

from autoscaler.job_vocabulary import EventKind, JobReason
from autoscaler.reconciling.assessments.signs_of_life import losses_in_a_row
from autoscaler.reconciling.endings import described, killed_for_memory
from autoscaler.reconciling.instructions import Counters, Instructions, Stop, Tell
from autoscaler.reconciling.questions import MemoryLimit
from autoscaler.reconciling.snapshot import JobSnapshot
from autoscaler.reconciling.words import listed
from autoscaler.reconciling.worker_snapshot import (
    WorkerSnapshot,
    ids,
)
from jobs.lifecycle import JobState

MOST_LOSSES_IN_A_ROW: Final = 5


def recover_from_loss(job: JobSnapshot, lost: Sequence[WorkerSnapshot]) -> Instructions:
    """Start again at once, as the same attempt; give up when that never gets anywhere."""
    reason, sentence = _loss(job, lost)
    in_a_row, now = losses_in_a_row(job.life, now=job.context.now), job.context.now
    tell = Tell(
        kind=EventKind.ALL_WORKERS_LOST,
        reason=reason,
        message=f"{sentence} No other worker could go on.",
        data={"workers": ids(lost), "in_a_row": in_a_row},
    )
    if in_a_row >= MOST_LOSSES_IN_A_ROW:
        return tell, _give_up(job, lost, in_a_row)
    seconds = job.limits.between_restarts.seconds_after(in_a_row - 1)
    stop = Stop(
        ends_as=JobState.QUEUED,
        reason=reason,
        message=f"{sentence} Starts again from the newest checkpoint.",
        counters=Counters(
            losses_in_a_row=in_a_row, lost_at=now, not_before=now + timedelta(seconds=seconds)
        ),
    )
    return tell, stop


def _give_up(job: JobSnapshot, lost: Sequence[WorkerSnapshot], in_a_row: int) -> Stop:
    """Give the kernel's reason also if it was told of an earlier loss only: hosts may miss one."""
    reason, sentence = _loss(job, (*lost, *reversed(job.workers)))
    message = f"All workers were lost {in_a_row} times in a row without a sign of life between"
    if reason is JobReason.OUT_OF_MEMORY:
        message = f"{message}. {sentence}"
    else:
        reason = JobReason.WORKERS_LOST
        ending = described(lost[0].exit_code)
        message = f"{message}; last {listed(ids(lost))} with {ending}. Is there enough memory?"
    return Stop(
        ends_as=JobState.FAILED,
        reason=reason,
        message=message,
        counters=Counters(losses_in_a_row=in_a_row, lost_at=job.context.now),
    )


def _loss(job: JobSnapshot, lost: Sequence[WorkerSnapshot]) -> tuple[JobReason, str]:
    """Its reason, and a sentence: the kernel's, if it killed one of them for its memory."""
    killed = next((worker for worker in lost if worker.failing == Failing.OUT_OF_MEMORY), None)
    if killed is None:
        return JobReason.NODE_LOST, f"{listed(ids(lost))} ended from outside."
    memory = job.answer_to(MemoryLimit(killed.id))
    return JobReason.OUT_OF_MEMORY, killed_for_memory(killed.id, memory)
