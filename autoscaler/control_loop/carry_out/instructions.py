"""How is done what one rule gave? What is written in one transaction, then the orders."""

from __future__ import annotations

from autoscaler.control_loop.carry_out import processes, rows, worker_rows
from autoscaler.control_loop.job_view import JobView
from autoscaler.control_loop.observe.views import job_views
from autoscaler.control_loop.shell import Shell
from autoscaler.reconciling.instructions import Instructions, Order
from autoscaler.reconciling.snapshot import (
    Refused,
)

_ = worker_rows  # registers its functions


def carry_out(instructions: Instructions, view: JobView, shell: Shell) -> Refused | None:
    """Do it; what could not be started and never can be, if there is such a thing.

    Raises:
        NotNow: somebody else changed the job; nothing was done.
        HostUnavailable: a node does not answer; what was written stays.
    """
    orders = [one for one in instructions if isinstance(one, Order)]
    written = [one for one in instructions if not isinstance(one, Order)]
    if written:
        with shell.changing(view.id) as job:
            for instruction in written:
                rows.write(instruction, job, view, shell)
    if written and orders:
        (view,) = job_views([view.id], shell.processes)
    return processes.give(orders, view, shell)
