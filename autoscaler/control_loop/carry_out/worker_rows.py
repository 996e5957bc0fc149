"""How is each instruction written that concerns workers? One function for each; see `rows`."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from django.db.models import F
from django.db.models.functions import Greatest

from autoscaler.control_loop import accounting, seats
from autoscaler.control_loop.arrangements import arrangement_of
from autoscaler.control_loop.assignments import NotNow, go_on_with
from autoscaler.control_loop.carry_out.rows import tell
from autoscaler.control_loop.job_view import JobView
from autoscaler.control_loop.shell import Shell
from autoscaler.job_vocabulary import JobReason, StoredReason
from autoscaler.reconciling.instructions import (
    BeginGeneration,
    Count,
    Reassign,
    Release,
    SeatNextSet,
)
from jobs.lifecycle import ACTIVE, State
from jobs.models import Assignment, Generation, GpuClaim, Job, Worker
from jobs.transitions import move

COST_LOOKED_AT_AFTER: Final = timedelta(seconds=5)
"""What a restart cost is first asked then. Guessed: scripts that start quickly have begun."""


def reassign(instruction: Reassign, job: Job, view: JobView, _: Shell) -> None:
    staying = [worker for worker in view.workers if worker.id in instruction.workers]
    staying.sort(key=lambda worker: instruction.workers.index(worker.id))
    message = instruction.message
    is_mine = not instruction.begins_rescale or move(
        job.id, {State.RUNNING}, State.RESCALING, reason=JobReason.NODE_LOST, message=message
    )
    if not (is_mine and go_on_with(view, staying, message=message)):
        raise NotNow


def seat_next_set(_: SeatNextSet, job: Job, view: JobView, shell: Shell) -> None:
    wanted = arrangement_of(view.assignment).seats if view.assignment else ()
    if not seats.take(job, wanted, attempt=view.job.attempt, now=shell.now):
        raise NotNow


def begin_generation(instruction: BeginGeneration, job: Job, view: JobView, shell: Shell) -> None:
    assignment = view.assignment
    if assignment is None:
        raise NotNow
    _write_generation(instruction, assignment, view, shell)
    training = Worker.objects.filter(pk__in=view.wanted).exclude(phase=Worker.Phase.GONE)
    training.update(phase=Worker.Phase.TRAINING)
    is_mine = move(
        job.id,
        {State.STARTING, State.RESCALING},
        State.RUNNING,
        reason=StoredReason(assignment.reason),
        message=assignment.message,
        data={"revision": assignment.revision},
    )
    if not is_mine:
        raise NotNow


def release(instruction: Release, job: Job, view: JobView, shell: Shell) -> None:
    """Later ticks count only jobs that have workers: the time of the last one is counted here."""
    held = Worker.objects.filter(pk=instruction.worker).exclude(phase=Worker.Phase.GONE)
    count = instruction.count if job.state in ACTIVE else None
    is_on_record = count is not None and count.tell is not None
    is_mine = held.update(
        phase=Worker.Phase.GONE,
        gone_at=instruction.gone_at,
        exit_code=instruction.exit_code,
        failing=instruction.failing,
        error=instruction.error,
        last_lines=list(instruction.last_lines),
        counted_at=shell.now if is_on_record else None,
        counted_revision=job.revision if is_on_record else None,
    )
    GpuClaim.objects.filter(worker_id=instruction.worker).delete()
    if not is_mine:
        return
    accounting.update_gpu_seconds([job.id], shell.now)
    if count is not None:
        _count(count, job, view, shell)


def _count(count: Count, job: Job, view: JobView, shell: Shell) -> None:
    changes: dict[str, Any] = {
        "losses": F("losses") + count.losses,
        "failures": F("failures") + count.failures,
    }
    if count.lived_at is not None:
        changes["progress_at"] = Greatest("progress_at", count.lived_at)
    Job.objects.filter(pk=job.id).update(**changes)
    if count.tell is not None:
        tell(count.tell, job, view, shell)


def _write_generation(
    instruction: BeginGeneration, assignment: Assignment, view: JobView, shell: Shell
) -> None:
    now = shell.now
    is_again = not instruction.is_first
    Generation.objects.filter(job_id=view.id, ended_at=None).update(ended_at=now)
    Generation.objects.create(
        job_id=view.id,
        number=instruction.number,
        attempt=assignment.attempt,
        revision=assignment.revision,
        workers=len(view.wanted),
        worker_ids=list(view.wanted),
        global_batch_size=assignment.global_batch_size,
        reason=assignment.reason,
        message=assignment.message,
        began_at=now,
        step=view.job.step,
        stall_seconds=instruction.stall_seconds,
        restart_ordered_at=view.state_since if is_again else None,
        restart_look_at=now + COST_LOOKED_AT_AFTER if is_again else None,
    )
    rescaled: dict[str, Any] = {"last_rescaled_at": now, "rescales": F("rescales") + 1}
    changes = {"generation": instruction.number, **(rescaled if instruction.is_rescale else {})}
    Job.objects.filter(pk=view.id).update(**changes)
