"""How is done what one rule gave? What is written in one transaction, then the orders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from autoscaler.control_loop.carry_out.instructions import job_rows, processes, worker_rows
from autoscaler.control_loop.observe.jobs.job_view import JobView
from autoscaler.control_loop.observe.jobs.views import job_views
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.reconciling import instructions as what
from autoscaler.reconciling.instructions import Instruction, Instructions
from autoscaler.reconciling.snapshot import Refused
from jobs.models import Job

Write = Callable[[Sequence[Any], Job, JobView, TickContext], None]


def _each(write: Callable[[Any, Job, JobView, TickContext], None]) -> Write:
    """For an instruction of which a rule gives one at most."""

    def write_each(alike: Sequence[Any], job: Job, view: JobView, context: TickContext) -> None:
        for one in alike:
            write(one, job, view, context)

    return write_each


_WRITTEN_BY: Final[Mapping[type[Instruction], Write]] = {
    what.Stop: _each(job_rows.stop),
    what.EndAs: _each(job_rows.end_as),
    what.Finish: _each(job_rows.finish),
    what.ChangeMode: _each(job_rows.change_mode),
    what.Remember: _each(job_rows.remember),
    what.RecordNotice: _each(job_rows.record_notice),
    what.BeginTerm: _each(job_rows.begin_term),
    what.Tell: job_rows.tell,
    what.Say: _each(job_rows.say),
    what.Reassign: _each(worker_rows.reassign),
    what.SeatNextSet: _each(worker_rows.seat_next_set),
    what.BeginGeneration: _each(worker_rows.begin_generation),
    what.Release: worker_rows.release,
}


def carry_out(instructions: Instructions, view: JobView, context: TickContext) -> Refused | None:
    """Do it; what could not be started and never can be, if there is such a thing.

    Raises:
        NotNow: somebody else changed the job; nothing was done.
        HostUnavailable: a node does not answer; what was written stays.
    """
    orders = [one for one in instructions if isinstance(one, what.Order)]
    written = [one for one in instructions if not isinstance(one, what.Order)]
    if written:
        with context.changing(view.id) as job:
            for kind, alike in groupby(written, key=type):
                _WRITTEN_BY[kind](tuple(alike), job, view, context)
    if any(isinstance(one, what.BeginTerm) for one in written):
        (view,) = job_views(
            [view.id], context.processes, context.around
        )  # its coordinator has another name now
    return processes.give(orders, view, context)
