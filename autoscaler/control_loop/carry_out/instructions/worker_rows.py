"""How is each instruction written that concerns workers? One function for each; see `job_rows`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import F
from django.db.models.functions import Greatest

from autoscaler.control_loop.carry_out import accounting
from autoscaler.control_loop.carry_out.assignments import NotNow, go_on_with
from autoscaler.control_loop.carry_out.instructions.job_rows import tell
from autoscaler.control_loop.carry_out.seating import take_seats
from autoscaler.control_loop.observe.jobs.arrangements import arrangement_of
from autoscaler.control_loop.observe.jobs.job_view import JobView
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.job_vocabulary import JobReason, StoredReason
from autoscaler.reconciling.instructions import (
    BeginGeneration,
    Count,
    Reassign,
    Release,
    SeatNextSet,
)
from jobs.changes.transitions import move
from jobs.lifecycle import ACTIVE, State
from jobs.models import Assignment, Generation, GpuClaim, Job, Worker

COST_LOOKED_AT_AFTER: Final = timedelta(seconds=5)
"""What a restart cost is first asked then. Guessed: scripts that start quickly have begun."""


def reassign(instruction: Reassign, job: Job, view: JobView, _: TickContext) -> None:
    staying = [worker for worker in view.workers if worker.id in instruction.workers]
    staying.sort(key=lambda worker: instruction.workers.index(worker.id))
    message = instruction.message
    is_mine = not instruction.begins_rescale or move(
        job.id, {State.RUNNING}, State.RESCALING, reason=JobReason.NODE_LOST, message=message
    )
    if not (is_mine and go_on_with(view, staying, message=message)):
        raise NotNow


def seat_next_set(_: SeatNextSet, job: Job, view: JobView, context: TickContext) -> None:
    wanted = arrangement_of(view.assignment).seats if view.assignment else ()
    if not take_seats(job, wanted, attempt=view.job.attempt, now=context.now):
        raise NotNow


def begin_generation(
    instruction: BeginGeneration, job: Job, view: JobView, context: TickContext
) -> None:
    assignment = view.assignment
    if assignment is None:
        raise NotNow
    _write_generation(instruction, assignment, view, context)
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


def release(releases: Sequence[Release], job: Job, view: JobView, context: TickContext) -> None:
    """Release workers with as many statements for all of a job as for one.

    Later ticks count only jobs that have workers: the time of the last one is counted here.
    """
    ids = [one.worker for one in releases]
    held = Worker.objects.filter(pk__in=ids).exclude(phase=Worker.Phase.GONE)
    still_held = set(held.values_list("id", flat=True))  # nobody else may end them meanwhile
    mine = [one for one in releases if one.worker in still_held]
    GpuClaim.objects.filter(worker__in=ids).delete()
    if not mine:
        return
    now, is_active = context.now, job.state in ACTIVE
    gone = [_gone(one, now=now, revision=job.revision if is_active else None) for one in mine]
    Worker.objects.bulk_update(gone, _WRITTEN_OF_THE_GONE)
    accounting.update_gpu_seconds([job.id], now)
    if is_active:
        _count([one.count for one in mine if one.count is not None], job, view, context)


_WRITTEN_OF_THE_GONE: Final = (
    "phase",
    "gone_at",
    "exit_code",
    "failing",
    "error",
    "last_lines",
    "counted_at",
    "counted_revision",
)


def _gone(instruction: Release, *, now: datetime, revision: int | None) -> Worker:
    """Return how it ended, as a row. Without a revision, no end counts."""
    count = instruction.count
    is_on_record = revision is not None and count is not None and count.tell is not None
    return Worker(
        id=instruction.worker,
        phase=Worker.Phase.GONE,
        gone_at=instruction.gone_at,
        exit_code=instruction.exit_code,
        failing=instruction.failing,
        error=instruction.error,
        last_lines=list(instruction.last_lines),
        counted_at=now if is_on_record else None,
        counted_revision=revision if is_on_record else None,
    )


def _count(counts: Sequence[Count], job: Job, view: JobView, context: TickContext) -> None:
    if not counts:
        return
    changes: dict[str, Any] = {
        "losses": F("losses") + sum(one.losses for one in counts),
        "failures": F("failures") + sum(one.failures for one in counts),
    }
    lived = [one.lived_at for one in counts if one.lived_at is not None]
    if lived:
        changes["progress_at"] = Greatest("progress_at", max(lived))
    Job.objects.filter(pk=job.id).update(**changes)
    tell([one.tell for one in counts if one.tell is not None], job, view, context)


def _write_generation(
    instruction: BeginGeneration, assignment: Assignment, view: JobView, context: TickContext
) -> None:
    now = context.now
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
