"""How is each instruction drafted that concerns workers? One function for each; see `job_rows`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from autoscaler.control_loop.carry_out.assignments import go_on_with
from autoscaler.control_loop.carry_out.instructions.job_rows import tell
from autoscaler.control_loop.carry_out.seating import take_seats
from autoscaler.control_loop.carry_out.writing import JobDraft, NotNow
from autoscaler.control_loop.observe.jobs.arrangements import arrangement_of
from autoscaler.control_loop.observe.jobs.job_view import LiveJob, ids
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.job_vocabulary import JobReason, StoredReason
from autoscaler.reconciling.instructions import (
    BeginGeneration,
    CountEnding,
    Reassign,
    ReleaseWorker,
    SeatNextSet,
)
from jobs.lifecycle import ACTIVE, JobState
from jobs.models import Assignment, Generation
from jobs.worker_phase import WorkerPhase

COST_LOOKED_AT_AFTER: Final = timedelta(seconds=5)
"""What a restart cost is first asked then. Guessed: scripts that start quickly have begun."""


def reassign(instruction: Reassign, draft: JobDraft, view: LiveJob, _: TickContext) -> None:
    staying = [worker for worker in view.workers if worker.id in instruction.workers]
    staying.sort(key=lambda worker: instruction.workers.index(worker.id))
    message = instruction.message
    if instruction.begins_rescale:
        draft.move(
            {JobState.RUNNING},
            JobState.RESCALING,
            reason=JobReason.NODE_LOST,
            message=message,
            data={"workers": {"from": len(view.wanted), "to": len(staying)}},
        )
    go_on_with(view, draft, staying, message=message)


def seat_next_set(_: SeatNextSet, draft: JobDraft, view: LiveJob, __: TickContext) -> None:
    wanted = arrangement_of(view.assignment).seats if view.assignment else ()
    take_seats(draft, wanted, attempt=view.job.attempt)


def begin_generation(
    instruction: BeginGeneration, draft: JobDraft, view: LiveJob, context: TickContext
) -> None:
    assignment = view.assignment
    if assignment is None:
        raise NotNow
    draft.move(
        {JobState.STARTING, JobState.RESCALING},
        JobState.RUNNING,
        reason=StoredReason(assignment.reason),
        message=assignment.message,
        data={"revision": assignment.revision},
    )
    draft.training += view.wanted
    _write_generation(instruction, assignment, draft, view, context)


def release(
    releases: Sequence[ReleaseWorker], draft: JobDraft, view: LiveJob, context: TickContext
) -> None:
    """Release workers; only a tick ends workers, and no two ticks write at the same time.

    Later ticks count only jobs that have workers: the time of the last one is counted now.
    """
    live = set(ids(view.live))
    mine = [one for one in releases if one.worker in live]
    draft.gone += (one.worker for one in releases)
    is_active = draft.job.state in ACTIVE
    for one in mine:
        revision = draft.job.revision if is_active else None
        draft.change_worker(one.worker, **_gone(one, now=context.now, revision=revision))
    if is_active:
        _count([one.count for one in mine if one.count is not None], draft, view, context)


def _gone(instruction: ReleaseWorker, *, now: datetime, revision: int | None) -> dict[str, Any]:
    """Return how it ended, as columns. Without a revision, no end counts."""
    count = instruction.count
    is_on_record = revision is not None and count is not None and count.tell is not None
    return {
        "phase": WorkerPhase.GONE,
        "gone_at": instruction.gone_at,
        "exit_code": instruction.exit_code,
        "failing": instruction.failing,
        "error": instruction.error,
        "last_lines": list(instruction.last_lines),
        "counted_at": now if is_on_record else None,
        "counted_revision": revision if is_on_record else None,
    }


def _count(
    counts: Sequence[CountEnding], draft: JobDraft, view: LiveJob, context: TickContext
) -> None:
    if not counts:
        return
    job = draft.job
    draft.set(
        losses=job.losses + sum(one.losses for one in counts),
        failures=job.failures + sum(one.failures for one in counts),
    )
    lived = [one.lived_at for one in counts if one.lived_at is not None]
    if lived:
        draft.set(progress_at=max([*lived, *([job.progress_at] if job.progress_at else [])]))
    tell([one.tell for one in counts if one.tell is not None], draft, view, context)


def _write_generation(
    instruction: BeginGeneration,
    assignment: Assignment,
    draft: JobDraft,
    view: LiveJob,
    context: TickContext,
) -> None:
    now = context.now
    is_again = not instruction.is_first
    draft.ends_generation = True
    draft.generations.append(
        Generation(
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
            recorded_at=draft.held_at,
            step=view.job.step,
            stall_seconds=instruction.stall_seconds,
            restart_ordered_at=view.state_since if is_again else None,
            restart_look_at=now + COST_LOOKED_AT_AFTER if is_again else None,
        )
    )
    draft.set(generation=instruction.number)
    if instruction.is_rescale:
        draft.set(last_rescaled_at=now, rescales=draft.job.rescales + 1)
