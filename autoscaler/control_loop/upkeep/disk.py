"""Does a job write more than it may? It is ended: what it takes is missing to all others.

Its people are told before. This is a failure that trying again would only repeat.
"""

from __future__ import annotations

from autoscaler.control_loop.disk_excess import excess_of, is_near, sentence, warning
from autoscaler.control_loop.job_view import JobView
from autoscaler.control_loop.shell import Shell
from autoscaler.control_loop.upkeep.outcome import stop
from autoscaler.job_vocabulary import EventKind, JobReason
from jobs import events
from jobs.lifecycle import State
from jobs.models import Event


def end_what_writes_too_much(view: JobView, shell: Shell) -> bool:
    """By the newest measurement; where there is none, nothing is known against it."""
    found = excess_of(view.job, view.spec, shell.disk_limits)
    if found is None or not view.is_active:
        return False
    message = sentence(found, view.job, view.spec, shell.disk_limits)
    data = {"bytes": view.job.disk_bytes, "files": view.job.disk_files}
    return stop(view, shell, ends_as=State.FAILED, reason=found, message=message, data=data)


def warn_of_a_filling_disk(view: JobView, shell: Shell) -> bool:
    """Once for each time that it came out of the queue."""
    if not view.is_active or not is_near(view.job, view.spec, shell.disk_limits):
        return False
    starts = view.job.starts
    told = Event.objects.filter(job_id=view.id, kind=EventKind.DISK_FILLING, data__starts=starts)
    if told.exists():
        return False
    with shell.changing(view.id):
        events.record(
            job_id=view.id,
            kind=EventKind.DISK_FILLING,
            reason=JobReason.OUT_OF_DISK,
            message=warning(view.job, view.spec, shell.disk_limits),
            data={"bytes": view.job.disk_bytes, "starts": starts},
        )
    return True


def may_not_write_on(view: JobView, shell: Shell) -> bool:
    """Whether there is no time for a last checkpoint: it would be as large as any."""
    return excess_of(view.job, view.spec, shell.disk_limits) is not None
