"""Does a job stand still? Its people hear of it, then it is ended: it holds GPUs for nothing.

What a worker writes to its log counts as a sign of life, as a step does. It is looked at only when
nothing else was seen for long. Who reports nothing is ended only if its spec says after how long:
a plain script that is silent may well be at work.
"""

from __future__ import annotations

from datetime import datetime

from autoscaler.job_vocabulary import EventKind, JobReason
from autoscaler.reconciling.assessments.signs_of_life import DueReaction, due, due_at
from autoscaler.reconciling.instructions import (
    NOTHING,
    Instructions,
    Remember,
    Stop,
    Tell,
)
from autoscaler.reconciling.questions import LastLines
from autoscaler.reconciling.rules.ending.stops import count_as_failure
from autoscaler.reconciling.snapshot import JobSnapshot
from jobs.lifecycle import JobState
from jobs.spec.quantities import format_duration


def end_what_stands_still(job: JobSnapshot) -> Instructions:
    """Tell after half of the time that the spec gives it; after all of it, end it."""
    if not _can_be_judged(job):
        return NOTHING
    since = _quiet_since(job)
    told_at, now = job.life.told_of_silence_at, job.context.now
    what_is_due = due(since=since, told_at=told_at, now=now, timeout=_timeout(job))
    if what_is_due is None or (what_is_due is DueReaction.END and _may_be_silent(job)):
        return NOTHING
    written = _wrote_last(job, since)
    if written > since:
        return (Remember(life_at=written),)
    if what_is_due is DueReaction.TELL:
        return Remember(told_of_silence_at=now), _warning(job, since)
    return (_end(job, since),)


def looked_into_at(job: JobSnapshot) -> datetime:
    """Return when its silence is to be looked into, if there is no sign of life until then."""
    told_at = job.life.told_of_silence_at
    return due_at(since=_quiet_since(job), told_at=told_at, timeout=_timeout(job))


def _can_be_judged(job: JobSnapshot) -> bool:
    """All its workers run and can be seen, and so can what its coordinator says."""
    if not job.live or job.in_preparation:
        return False
    return all(worker.is_running for worker in job.live) and (not job.is_hot or job.is_heard)


def _quiet_since(job: JobSnapshot) -> datetime:
    """The newest that is known to have happened, but for what it wrote."""
    happened = [
        job.state_since,
        job.life.progress_at,
        job.life.trained_at if job.is_trained else None,
        job.generation.began_at if job.generation else None,
        *(worker.process.started_at for worker in job.live if worker.process),
    ]
    return max(moment for moment in happened if moment is not None)


def _timeout(job: JobSnapshot) -> float:
    return job.spec.elastic.progress_timeout or job.limits.progress_timeout


def _may_be_silent(job: JobSnapshot) -> bool:
    return not job.is_hot and job.spec.elastic.progress_timeout is None


def _wrote_last(job: JobSnapshot, since: datetime) -> datetime:
    """Return when a worker last wrote a line; remembered, so that few ticks read their logs."""
    newest = [line.at for one in job.live for line in job.answer_to(LastLines(one.id, 1))]
    return max(newest, default=since)


def _warning(job: JobSnapshot, since: datetime) -> Tell:
    timeout = format_duration(_timeout(job))
    if job.is_trained:
        follows = f"{timeout} after that it is ended, as completed."
    elif _may_be_silent(job):
        follows = "It is left alone; `elastic.progress_timeout` would have it ended."
    else:
        follows = f"{timeout} after that it counts as failed (`elastic.progress_timeout`)."
    return Tell(
        kind=EventKind.NO_PROGRESS,
        reason=JobReason.NO_PROGRESS,
        message=f"{_what_is_seen(job)} since {since:%H:%M} UTC. {follows}",
        data={"since": since.isoformat()},
    )


def _end(job: JobSnapshot, since: datetime) -> Stop:
    seen = f"{_what_is_seen(job)} since {since:%H:%M} UTC"
    if job.is_trained:
        return Stop(
            ends_as=JobState.COMPLETED,
            reason=JobReason.SCRIPT_DID_NOT_END,
            message=f"{seen}: it was ended, and its work is done.",
        )
    remedy = (
        "Its log tells how far it came. Raise `elastic.progress_timeout` if it may be silent for"
        " so long, or have it write a line now and then."
    )
    return count_as_failure(job, reason=JobReason.NO_PROGRESS, why=f"{seen}.", remedy=remedy)


def _what_is_seen(job: JobSnapshot) -> str:
    if job.is_trained:
        return "Its training is over, but its script has neither ended nor written a line"
    if job.is_hot:
        return "No step was made and no line written"
    return "No line was written"
