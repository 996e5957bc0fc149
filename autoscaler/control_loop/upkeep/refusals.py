"""Is there a worker that can never run, or is always killed? Then waiting and trying would not end.

What its node or its image refuses is no failure of the job's code, and is not tried again.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from cluster.worker_host import Failing

from autoscaler.control_loop.endings import NEVER_RAN, Ending, killed_for_memory
from autoscaler.control_loop.job_view import JobView, WorkerView
from autoscaler.control_loop.memory_limits import memory_limit
from autoscaler.control_loop.shell import Shell
from autoscaler.control_loop.upkeep.outcome import stop
from autoscaler.job_vocabulary import EventKind, JobReason
from jobs.lifecycle import State
from jobs.models import Event

MOST_KILLED: Final = 8  # per worker and hour, for its memory; guessed: a slow leak gets by


def give_up_what_cannot_start(view: JobView, shell: Shell) -> bool:
    """Unless others train already, or have: they go on, or start again, without it."""
    refused = next((worker for worker in view.members if worker.ending in NEVER_RAN), None)
    has_trained = view.is_hot and bool(view.trained)
    if refused is None or not view.is_active or view.goes_on_without_newcomers or has_trained:
        return False
    reason, message = JobReason(refused.row.failing), _sentence(refused, view)
    return stop(view, shell, ends_as=State.FAILED, reason=reason, message=message)


def give_up_what_is_always_killed(view: JobView, shell: Shell) -> bool:
    """Survivors go on after each kill, but whoever takes the place is killed as well."""
    killed = [worker for worker in view.workers if worker.row.failing == Failing.OUT_OF_MEMORY]
    most = MOST_KILLED * max(len(view.wanted), 1)
    if not view.is_active or len(killed) <= most:
        return False
    lately = Event.objects.filter(
        job_id=view.id,
        kind=EventKind.WORKER_LOST,
        reason=JobReason.OUT_OF_MEMORY,
        at__gt=shell.now - timedelta(hours=1),
    ).count()
    if lately <= most:
        return False
    sentence = killed_for_memory(killed[-1].id, memory_limit(killed[-1].row, view.spec))
    message = f"Workers ran out of memory {lately} times within an hour. {sentence}"
    reason = JobReason.OUT_OF_MEMORY
    return stop(view, shell, ends_as=State.FAILED, reason=reason, message=message)


def _sentence(refused: WorkerView, view: JobView) -> str:
    said = refused.row.error.rstrip(".")
    if refused.ending is Ending.NOT_STARTED:
        return (
            f"Node {refused.node.name} cannot start {refused.id}: {said}. Correct `image` or"
            " `workdir` if they are meant; otherwise ask an admin to look at the node."
        )
    if view.spec.image is None:
        remedy = "It is the platform's own: ask an admin to see to it, then submit again."
    else:
        remedy = "Correct `image`, push it, or have your team be let into its registry."
    return f"Its image cannot be fetched: {said}. {remedy}"
