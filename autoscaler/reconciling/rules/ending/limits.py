"""Has a job used up what its spec lets it? It is ended, after it had time for a last checkpoint.

Its people hear of it before, while they can still give it more.
"""

from __future__ import annotations

from autoscaler.job_vocabulary import EventKind
from autoscaler.reconciling.assessments.limits_of_use import limits_of_use, unnoticed_limit
from autoscaler.reconciling.instructions import NOTHING, Instructions, RecordNotice, Tell
from autoscaler.reconciling.rules.ending.stops import fail
from autoscaler.reconciling.snapshot import JobSnapshot


def end_what_is_used_up(job: JobSnapshot) -> Instructions:
    """End it by what was counted last; it may use a little more until then."""
    for limit in limits_of_use(job):
        if limit.is_used_up():
            return (fail(limit.reason, limit.sentence(job.id)),)
    return NOTHING


def warn_of_a_near_limit(job: JobSnapshot) -> Instructions:
    """Its people are told once, and once more if it comes near a limit that they changed."""
    limit = unnoticed_limit(job)
    if limit is None:
        return NOTHING
    tell = Tell(kind=EventKind.LIMIT_NEAR, reason=limit.reason, message=limit.warning())
    return tell, RecordNotice(limit_version=job.version)
