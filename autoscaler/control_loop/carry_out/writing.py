"""How is written what many jobs need? Drafted job by job, then in as many statements as for one.

The rows of all these jobs are held first, so a draft compares with the row in its hand and sets. A
draft that finds its job changed is dropped whole, and the others are written. A job whose row
somebody holds is written by itself, with more patience; should what was drafted together be
refused by the database, each job is, so that one keeps none of the others back.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Any, Final

from django.db import DatabaseError, InterfaceError
from django.db.models.functions import Now

from autoscaler.control_loop.carry_out import accounting, row_updates
from autoscaler.control_loop.carry_out.held_together import parts
from autoscaler.control_loop.lease.exclusive import LeaseLost
from autoscaler.control_loop.observe.jobs.seats import FreeSeats
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.job_vocabulary import JobReason, StoredReason
from jobs.changes import events, state_spans
from jobs.changes.events import Unwritten
from jobs.changes.transitions import Move, check_legal, move_of, send_when_committed
from jobs.changes.wake_signal import announce_wanted
from jobs.lifecycle import JobState
from jobs.models import Assignment, Generation, GpuClaim, Job, Worker
from jobs.worker_phase import WorkerPhase

_WARM: Final = (WorkerPhase.READY, WorkerPhase.TRAINING)
_COMPARED: Final = (  # or counted on; the row has many more columns, some of them long
    *("team", "pool", "state", "ends_as", "reason", "message", "mode", "revision", "starts"),
    *("started_at", "progress_at", "coordinator_term", "coordinator_restarts", "losses"),
    *("failures", "rescales", "version", *state_spans.COLUMNS),
)

_log = logging.getLogger(__name__)


class NotNow(Exception):
    """Somebody else changed the job, or a GPU it needs is not free yet."""


@dataclass(slots=True, kw_only=True)
class JobDraft:
    """What is to be written of one job, whose row is held: `job` is that row."""

    job: Job
    held_at: datetime  # by the clock of the database
    free: FreeSeats
    columns: dict[str, Any] = field(default_factory=dict)
    events: list[Unwritten] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    workers: list[Worker] = field(default_factory=list)
    claims: list[GpuClaim] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    generations: list[Generation] = field(default_factory=list)
    worker_columns: dict[str, dict[str, Any]] = field(default_factory=dict)  # by worker
    gone: list[str] = field(default_factory=list)  # workers that give their GPUs back
    training: list[str] = field(default_factory=list)  # workers, unless they are gone
    staying: Collection[str] | None = None  # all other warm workers are to leave
    ends_generation: bool = False  # the open one
    changes_wishes: bool = False  # its coordinator is woken

    def set(self, **columns: Any) -> None:
        """Change columns of the job."""
        self.columns |= columns

    def move(
        self,
        expected: Collection[JobState],
        new: JobState,
        *,
        reason: JobReason | StoredReason,
        message: str = "",
        data: Mapping[str, Any] | None = None,
        changes: Mapping[str, Any] | None = None,
    ) -> None:
        """Do as `transitions.move`. Raises NotNow if the job is in none of the expected states."""
        check_legal(expected, new)
        if self.job.state not in expected:
            raise NotNow
        made = move_of(
            self.job,
            new,
            at=self.held_at,
            reason=reason,
            message=message,
            data=data,
            changes=changes,
        )
        self.set(**made.columns)
        self.events.append(made.event)
        self.moves.append(made)
        self.ends_generation |= made.ends_generation
        self.changes_wishes |= made.changes_wishes

    def change_worker(self, worker_id: str, **columns: Any) -> None:
        self.worker_columns.setdefault(worker_id, {}).update(columns)


Drafting = Callable[[JobDraft], None]
Outcomes = dict[str, Exception | None]


def write(
    wanted: Mapping[str, Drafting], context: TickContext, *, seats_on: Iterable[str] = ()
) -> Outcomes:
    """Draft and write for all these jobs; returns by job what kept it back, None: it is written.

    As many as `MOST_TOGETHER` at a time, in their order.

    Args:
        wanted: by job: what drafts. It may be called twice, and raises `NotNow` to change nothing.
        context: of the tick.
        seats_on: names of nodes where drafts look for free GPUs.

    Raises:
        LeaseLost: another process holds the lease now.
    """
    names = frozenset(seats_on)
    outcomes: Outcomes = {}
    for part in parts(wanted.items()):
        some = dict(part)
        if len(some) > 1:
            outcomes |= _together_if_possible(some, context, names)
        for job_id, drafting in some.items():
            if job_id not in outcomes:
                outcomes[job_id] = _alone(job_id, drafting, context, names)
    return outcomes


def _together_if_possible(
    wanted: Mapping[str, Drafting], context: TickContext, names: frozenset[str]
) -> Outcomes:
    try:
        return _together(wanted, context, names)
    except (LeaseLost, InterfaceError):
        raise
    except (DatabaseError, ValueError):  # a broken connection is met again at once
        _log.warning("Jobs are written one by one.", exc_info=True, extra={"action": "write"})
        return {}


def _together(
    wanted: Mapping[str, Drafting], context: TickContext, names: frozenset[str]
) -> Outcomes:
    """Write for jobs whose rows are free; one that was deleted or is held is not in the answer."""
    outcomes: Outcomes = {}
    with context.fence.transaction():
        held = {draft.job.id: draft for draft in _held(wanted, context, names, waits=False)}
        in_order = [held[job_id] for job_id in wanted if job_id in held]
        for draft in in_order:
            outcomes[draft.job.id] = _drafted(draft, wanted[draft.job.id])
        _write([draft for draft in in_order if outcomes[draft.job.id] is None], context)
    return outcomes


def _drafted(draft: JobDraft, drafting: Drafting) -> Exception | None:
    try:
        drafting(draft)
    except (DatabaseError, InterfaceError, LeaseLost):
        raise
    except Exception as problem:  # noqa: BLE001 - of this job alone
        return problem
    return None


def _alone(
    job_id: str, drafting: Drafting, context: TickContext, names: frozenset[str]
) -> Exception | None:
    try:
        with context.fence.transaction():
            drafts = _held([job_id], context, names, waits=True)
            if not drafts:
                return Job.DoesNotExist(job_id)
            drafting(drafts[0])
            _write(drafts, context)
    except (LeaseLost, InterfaceError):
        raise
    except Exception as problem:  # noqa: BLE001 - of this job alone
        return problem
    return None


def _held(
    job_ids: Iterable[str], context: TickContext, names: frozenset[str], *, waits: bool
) -> list[JobDraft]:
    """Hold the rows, in the order of their ids, as everybody does who holds several."""
    rows = Job.objects.select_for_update(no_key=True, skip_locked=not waits)
    found = rows.filter(pk__in=list(job_ids)).order_by("pk").only(*_COMPARED)
    free = FreeSeats(names, now=context.now, holds=True)
    return [
        JobDraft(job=job, held_at=job.held_at, free=free) for job in found.annotate(held_at=Now())
    ]


def _write(drafts: Collection[JobDraft], context: TickContext) -> None:
    """Write one kind of rows after the other, and of each kind all at once."""
    if gone := _all(draft.gone for draft in drafts):
        GpuClaim.objects.filter(worker__in=gone).delete()
    row_updates.update(
        Worker,
        {key: changes for draft in drafts for key, changes in draft.worker_columns.items()},
    )
    _end_generations([draft for draft in drafts if draft.ends_generation])
    row_updates.update(Job, {draft.job.id: draft.columns for draft in drafts})
    for model in (Worker, GpuClaim, Assignment, Generation):
        if rows := _all(_ROWS[model](draft) for draft in drafts):
            model._default_manager.bulk_create(rows)  # noqa: SLF001 - Django's own word
    _change_phases(drafts)
    if drafted := _all(draft.events for draft in drafts):
        events.record_all(drafted)
    accounting.update_gpu_seconds([d.job.id for d in drafts if d.gone], context.now)
    send_when_committed(_all(draft.moves for draft in drafts))
    for draft in drafts:
        if draft.changes_wishes:
            announce_wanted(draft.job.id)


_ROWS: Final[Mapping[Any, Callable[[JobDraft], Collection[Any]]]] = {
    Worker: lambda draft: draft.workers,
    GpuClaim: lambda draft: draft.claims,
    Assignment: lambda draft: draft.assignments,
    Generation: lambda draft: draft.generations,
}


def _end_generations(drafts: Collection[JobDraft]) -> None:
    if drafts:
        ids, held_at = [draft.job.id for draft in drafts], max(d.held_at for d in drafts)
        Generation.objects.filter(job__in=ids, ended_at=None).update(ended_at=held_at)


def _change_phases(drafts: Collection[JobDraft]) -> None:
    """Warm workers that are not wanted any more leave; those of a generation train."""
    left = {draft.job.id: draft.staying for draft in drafts if draft.staying is not None}
    if left:
        others = Worker.objects.filter(job__in=left, phase__in=_WARM)
        others.exclude(pk__in=_all(left.values())).update(phase=WorkerPhase.LEAVING)
    if training := _all(draft.training for draft in drafts):
        theirs = Worker.objects.filter(pk__in=training).exclude(phase=WorkerPhase.GONE)
        theirs.update(phase=WorkerPhase.TRAINING)


def _all(parts: Iterable[Iterable[Any]]) -> list[Any]:
    return list(chain.from_iterable(parts))
