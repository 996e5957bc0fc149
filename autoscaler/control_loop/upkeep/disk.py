"""Does a job write more than it may? It is ended: what it takes is missing to all others.

This is a failure that trying again would only repeat.
"""

from __future__ import annotations

from autoscaler.control_loop.disk_excess import excess_of, sentence
from autoscaler.control_loop.job_view import JobView
from autoscaler.control_loop.shell import Shell
from autoscaler.control_loop.upkeep.outcome import stop
from jobs.lifecycle import State


def end_what_writes_too_much(view: JobView, shell: Shell) -> bool:
    """By the newest measurement; where there is none, nothing is known against it."""
    found = excess_of(view.job, view.spec, shell.disk_limits)
    if found is None or not view.is_active:
        return False
    message = sentence(found, view.job, view.spec, shell.disk_limits)
    data = {"bytes": view.job.disk_bytes, "files": view.job.disk_files}
    return stop(view, shell, ends_as=State.FAILED, reason=found, message=message, data=data)


def may_not_write_on(view: JobView, shell: Shell) -> bool:
    """Whether there is no time for a last checkpoint: it would be as large as any."""
    return excess_of(view.job, view.spec, shell.disk_limits) is not None
