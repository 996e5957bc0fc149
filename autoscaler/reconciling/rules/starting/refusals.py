"""Is there a worker that can never run, or is always killed? Then waiting and trying would not end.

What its node or its image refuses is no failure of the job's code, and is not tried again.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from cluster.worker_host import Failing

from autoscaler.job_vocabulary import JobReason
from autoscaler.reconciling.endings import NEVER_RAN, WorkerEnding, killed_for_memory
from autoscaler.reconciling.instructions import NOTHING, Instructions
from autoscaler.reconciling.questions import KillsForMemory, MemoryLimit
from autoscaler.reconciling.rules.ending.stops import fail
from autoscaler.reconciling.snapshot import JobSnapshot
from autoscaler.reconciling.worker_snapshot import WorkerSnapshot

MOST_KILLED: Final = 8  # per worker and hour, for its memory; guessed: a slow leak gets by


def give_up_what_cannot_start(job: JobSnapshot) -> Instructions:
    """Give up unless others train already, or have: they go on, or start again, without it."""
    refused = next((worker for worker in job.members if worker.ending in NEVER_RAN), None)
    has_trained = job.is_hot and bool(job.trained)
    if refused is None or job.goes_on_without_newcomers or has_trained:
        return NOTHING
    return (fail(JobReason(refused.failing), _sentence(refused, job)),)


def give_up_what_is_always_killed(job: JobSnapshot) -> Instructions:
    """Survivors go on after each kill, but whoever takes the place is killed as well."""
    killed = [worker for worker in job.workers if worker.failing == Failing.OUT_OF_MEMORY]
    most = MOST_KILLED * max(len(job.wanted), 1)
    if len(killed) <= most:
        return NOTHING
    lately = job.answer_to(KillsForMemory(job.context.now - timedelta(hours=1)))
    if lately <= most:
        return NOTHING
    sentence = killed_for_memory(killed[-1].id, job.answer_to(MemoryLimit(killed[-1].id)))
    message = f"Workers ran out of memory {lately} times within an hour. {sentence}"
    return (fail(JobReason.OUT_OF_MEMORY, message),)


def _sentence(refused: WorkerSnapshot, job: JobSnapshot) -> str:
    said = refused.error.rstrip(".")
    if refused.ending is WorkerEnding.NOT_STARTED:
        return (
            f"Node {refused.node.name} cannot start {refused.id}: {said}. Correct `image` or"
            " `workdir` if the cause lies there; otherwise ask an admin to look at the node."
        )
    if job.spec.image is None:
        remedy = "It is the platform's own image: ask an admin to repair it, then submit again."
    else:
        remedy = "Correct `image`, push it, or ask for your team to be let into its registry."
    return f"Its image cannot be fetched: {said}. {remedy}"
