"""How is done what one rule gave? What is written in one transaction, then the orders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from autoscaler.control_loop.carry_out import processes, rows, worker_rows
from autoscaler.control_loop.job_view import JobView
from autoscaler.control_loop.observe.views import job_views
from autoscaler.control_loop.shell import Shell
from autoscaler.reconciling import instructions as what
from autoscaler.reconciling.instructions import Instruction, Instructions
from autoscaler.reconciling.snapshot import Refused
from jobs.models import Job

Write = Callable[[Any, Job, JobView, Shell], None]

_WRITTEN_BY: Final[Mapping[type[Instruction], Write]] = {
    what.Stop: rows.stop,
    what.EndAs: rows.end_as,
    what.Finish: rows.finish,
    what.ChangeMode: rows.change_mode,
    what.Remember: rows.remember,
    what.RecordNotice: rows.record_notice,
    what.BeginTerm: rows.begin_term,
    what.Tell: rows.tell,
    what.Say: rows.say,
    what.Reassign: worker_rows.reassign,
    what.SeatNextSet: worker_rows.seat_next_set,
    what.BeginGeneration: worker_rows.begin_generation,
    what.Release: worker_rows.release,
}


def carry_out(instructions: Instructions, view: JobView, shell: Shell) -> Refused | None:
    """Do it; what could not be started and never can be, if there is such a thing.

    Raises:
        NotNow: somebody else changed the job; nothing was done.
        HostUnavailable: a node does not answer; what was written stays.
    """
    orders = [one for one in instructions if isinstance(one, what.Order)]
    written = [one for one in instructions if not isinstance(one, what.Order)]
    if written:
        with shell.changing(view.id) as job:
            for one in written:
                _WRITTEN_BY[type(one)](one, job, view, shell)
    if any(isinstance(one, what.BeginTerm) for one in written):
        (view,) = job_views([view.id], shell.processes)  # its coordinator has another name now
    return processes.give(orders, view, shell)
