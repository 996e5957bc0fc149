"""Does a job hold GPUs without using them? Its people hear of it, and it is paused if they said so.

That it shrinks is the planner's affair, which lets it have its fewest workers only.
"""

from __future__ import annotations

from autoscaler.job_vocabulary import EventKind, JobReason
from autoscaler.reconciling.assessments.idleness import is_idle_too_long, is_to_be_told, sentence
from autoscaler.reconciling.instructions import NOTHING, Instructions, RecordNotice, Stop, Tell
from autoscaler.reconciling.snapshot import JobSnapshot
from jobs.lifecycle import JobState


def tell_of_idleness(job: JobSnapshot) -> Instructions:
    """Its people are told once for each time that it is idle, and once when that is over."""
    since, noticed_since = job.idle_since, job.notices.idle_since
    if since is None:
        return NOTHING if noticed_since is None else (_busy_again(), RecordNotice(is_busy=True))
    if noticed_since == since or not is_to_be_told(since, job.spec, job.limits, job.context.now):
        return NOTHING
    tell = Tell(
        kind=EventKind.IDLE,
        reason=JobReason.IDLE,
        message=sentence(since, job.spec, can_shrink=job.can_shrink),
        data={"since": since.isoformat()},
    )
    return tell, RecordNotice(idle_since=since)


def pause_what_is_idle(job: JobSnapshot) -> Instructions:
    """Pause it as a person would who looked at it; whoever resumes it starts its time anew."""
    since, idle = job.idle_since, job.spec.idle
    if since is None or idle is None or idle.then != "pause":
        return NOTHING
    if not is_idle_too_long(since, job.spec, job.context.now):
        return NOTHING
    why = sentence(since, job.spec, can_shrink=job.can_shrink)
    return (
        Stop(
            ends_as=JobState.PAUSED,
            reason=JobReason.IDLE,
            message=f"{why} `concertina resume` starts it again.",
            data={"since": since.isoformat()},
        ),
    )


def _busy_again() -> Tell:
    return Tell(kind=EventKind.BUSY_AGAIN, message="Its workers do something again.")
