"""How does a job that knows nothing of us change its workers? All end, then the new set starts.

Its generations are written here, because no coordinator reports them.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from django.db.models import F

from autoscaler.control_loop import seats
from autoscaler.control_loop.arrangements import arrangement_of
from autoscaler.control_loop.job_view import JobView
from autoscaler.control_loop.shell import Shell
from autoscaler.control_loop.upkeep.outcome import stop
from autoscaler.job_vocabulary import JobReason, StoredReason
from jobs.lifecycle import State
from jobs.models import Assignment, Generation, Job, Worker
from jobs.transitions import move

COST_LOOKED_AT_AFTER: Final = timedelta(seconds=5)
"""What a restart cost is first asked then. Guessed: scripts that start quickly have begun."""


def seat_next_set(view: JobView, shell: Shell) -> bool:
    """The old workers have gone: give the new ones their GPUs."""
    if not view.is_active or not view.is_between_sets or view.live or view.assignment is None:
        return False
    wanted = arrangement_of(view.assignment).seats
    with shell.changing(view.id):
        if seats.take(view.job, wanted, attempt=view.job.attempt, now=shell.now):
            return True
    return stop(
        view,
        shell,
        ends_as=State.QUEUED,
        reason=JobReason.WAITING_FOR_CAPACITY,
        message="The GPUs for its new workers are gone; waits for others.",
    )


def begin_generation(view: JobView, shell: Shell) -> bool:
    """All processes run: from now on the job counts as training."""
    if view.is_hot or view.state not in {State.STARTING, State.RESCALING} or view.is_between_sets:
        return False
    if view.leavers or not view.members or not all(w.is_running for w in view.members):
        return False
    assignment = view.assignment
    assert assignment is not None  # noqa: S101 - its members are
    with shell.changing(view.id):
        _write(view, assignment, shell)
        Worker.objects.filter(pk__in=view.wanted).update(phase=Worker.Phase.TRAINING)
        return move(
            view.id,
            {State.STARTING, State.RESCALING},
            State.RUNNING,
            reason=StoredReason(assignment.reason),
            message=assignment.message,
            data={"revision": assignment.revision},
        )


def _write(view: JobView, assignment: Assignment, shell: Shell) -> None:
    last = view.generation
    number = last.number + 1 if last else 1
    is_rescale = view.state is State.RESCALING and last is not None
    stall_seconds = shell.seconds_since(view.state_since) if is_rescale else 0.0
    Generation.objects.filter(job_id=view.id, ended_at=None).update(ended_at=shell.now)
    Generation.objects.create(
        job_id=view.id,
        number=number,
        attempt=assignment.attempt,
        revision=assignment.revision,
        workers=len(view.wanted),
        worker_ids=list(view.wanted),
        global_batch_size=assignment.global_batch_size,
        reason=assignment.reason,
        message=assignment.message,
        began_at=shell.now,
        step=view.job.step,
        stall_seconds=stall_seconds,
        restart_ordered_at=view.state_since if last else None,
        restart_look_at=shell.now + COST_LOOKED_AT_AFTER if last else None,
    )
    rescaled: dict[str, Any] = {"last_rescaled_at": shell.now, "rescales": F("rescales") + 1}
    changes = {"generation": number, **(rescaled if is_rescale else {})}
    Job.objects.filter(pk=view.id).update(**changes)
