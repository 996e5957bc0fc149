"""Does a job stand still? Its people are told, then it is ended: it holds GPUs for nothing.

What a worker writes to its log counts as a sign of life, as a step does. It is looked at only when
nothing else was seen for long. Who reports nothing is ended only if its spec says after how long:
a plain script that is silent may well be at work.
"""

from __future__ import annotations

from datetime import datetime

from autoscaler.control_loop import signs_of_life
from autoscaler.control_loop.job_view import JobView
from autoscaler.control_loop.shell import Shell
from autoscaler.control_loop.signs_of_life import Due
from autoscaler.control_loop.upkeep.joining import is_heard
from autoscaler.control_loop.upkeep.outcome import count_as_failure, stop
from autoscaler.job_vocabulary import EventKind, JobReason
from jobs import events
from jobs.lifecycle import State
from jobs.models import Job
from jobs.quantities import format_duration


def end_what_stands_still(view: JobView, shell: Shell) -> bool:
    """Tell after half of the time that the spec gives it; after all of it, end it."""
    if not _can_be_judged(view, shell):
        return False
    since = _quiet_since(view)
    told_at, timeout = view.job.silence_told_at, _timeout(view, shell)
    due = signs_of_life.due(since=since, told_at=told_at, now=shell.now, timeout=timeout)
    if due is None or (due is Due.END and _may_be_silent(view)):
        return False
    if _wrote_since(view, since, shell):
        return False
    if due is Due.TELL:
        return _tell(view, since, shell)
    return _end(view, since, shell)


def is_trained(view: JobView) -> bool:
    """Its last epoch is over; what its script does now is its own affair."""
    over, assignment = view.job.trained_at, view.assignment
    return over is not None and assignment is not None and over >= assignment.at


def _can_be_judged(view: JobView, shell: Shell) -> bool:
    """All its workers run and can be seen, and so can what its coordinator says."""
    if view.state not in {State.STARTING, State.RUNNING} or not view.live or view.in_preparation:
        return False
    return all(worker.is_running for worker in view.live) and (
        not view.is_hot or is_heard(view, shell)
    )


def _quiet_since(view: JobView) -> datetime:
    """The newest that is known to have happened, but for what it wrote."""
    happened = [
        view.state_since,
        view.job.progress_at,
        view.job.trained_at if is_trained(view) else None,
        view.generation.began_at if view.generation else None,
        *(worker.process.started_at for worker in view.live if worker.process),
    ]
    return max(moment for moment in happened if moment is not None)


def _timeout(view: JobView, shell: Shell) -> float:
    return view.spec.elastic.progress_timeout or shell.limits.progress_timeout


def _may_be_silent(view: JobView) -> bool:
    return not view.is_hot and view.spec.elastic.progress_timeout is None


def _wrote_since(view: JobView, since: datetime, shell: Shell) -> bool:
    """Whether a worker wrote a line, which is remembered, so that it is not asked every tick."""
    newest = [
        line.at
        for worker in view.live
        for line in shell.processes.last_lines(worker.id, 1, job_id=view.id)
    ]
    written = max(newest, default=since)
    if written <= since:
        return False
    with shell.changing(view.id):
        Job.objects.filter(pk=view.id).update(progress_at=written)
    return True


def _tell(view: JobView, since: datetime, shell: Shell) -> bool:
    timeout = format_duration(_timeout(view, shell))
    if is_trained(view):
        follows = f"{timeout} after that it is ended, as completed."
    elif _may_be_silent(view):
        follows = "It is left alone; `elastic.progress_timeout` would have it ended."
    else:
        follows = f"{timeout} after that it counts as failed (`elastic.progress_timeout`)."
    with shell.changing(view.id):
        Job.objects.filter(pk=view.id).update(silence_told_at=shell.now)
        events.record(
            job_id=view.id,
            kind=EventKind.NO_PROGRESS,
            reason=JobReason.NO_PROGRESS,
            message=f"{_what_is_seen(view)} since {since:%H:%M} UTC. {follows}",
            data={"since": since.isoformat()},
        )
    return True


def _end(view: JobView, since: datetime, shell: Shell) -> bool:
    seen = f"{_what_is_seen(view)} since {since:%H:%M} UTC"
    if is_trained(view):
        message = f"{seen}: it was ended, and its work is done."
        return stop(
            view,
            shell,
            ends_as=State.COMPLETED,
            reason=JobReason.SCRIPT_DID_NOT_END,
            message=message,
        )
    remedy = (
        "Its log tells how far it came. Raise `elastic.progress_timeout` if it may be silent for"
        " so long, or have it write a line now and then."
    )
    return count_as_failure(
        view, shell, reason=JobReason.NO_PROGRESS, why=f"{seen}.", remedy=remedy
    )


def _what_is_seen(view: JobView) -> str:
    if is_trained(view):
        return "Its training is over, but its script has neither ended nor written a line"
    if view.is_hot:
        return "No step was made and no line written"
    return "No line was written"
