"""Has a job used up what its spec lets it? It is ended, after it had time for a last checkpoint.

Its people always hear of it before, if only by one tick: they may still give it more, and what was
counted with a clock that had leaped ahead is counted anew until then.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from autoscaler.job_vocabulary import EventKind, JobReason
from autoscaler.reconciling.assessments.limits_of_use import limits_of_use
from autoscaler.reconciling.instructions import NOTHING, EndAs, Instructions, RecordNotice, Tell
from autoscaler.reconciling.rules.ending.stops import fail
from autoscaler.reconciling.snapshot import JobSnapshot
from jobs.lifecycle import JobState

REASONS: Final = frozenset({JobReason.MAX_DURATION_OVER, JobReason.BUDGET_USED_UP})


def end_what_is_used_up(job: JobSnapshot) -> Instructions:
    """End it by what was counted last, unless somebody changes its spec meanwhile."""
    for one in limits_of_use(job):
        if one.limit.is_used_up and one.is_told:
            stop = fail(one.reason, one.sentence(job.id))
            return (replace(stop, version=job.version),)
    return NOTHING


def end_what_would_start_again(job: JobSnapshot) -> Instructions:
    """It fails instead: of GPUs that others give up for it, it could make no use."""
    if job.ends_as is not JobState.QUEUED:
        return NOTHING
    for one in limits_of_use(job):
        if one.limit.is_used_up:
            message = one.sentence(job.id)
            return (EndAs(ends_as=JobState.FAILED, reason=one.reason, message=message),)
    return NOTHING


def warn_of_near_limits(job: JobSnapshot) -> Instructions:
    """Its people are told once of each limit, and once more of one that they changed."""
    for one in limits_of_use(job):
        if one.is_to_be_told:
            tell = Tell(
                kind=EventKind.LIMIT_NEAR,
                reason=one.reason,
                message=one.limit.warning,
                data={
                    "field": one.limit.field,
                    "used_seconds": one.limit.used,
                    "most_seconds": one.limit.most,
                },
            )
            return tell, RecordNotice(limits=one.as_told)
    return NOTHING
