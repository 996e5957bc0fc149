"""Does a job write more than it may? It is ended: what it takes is missing to all others.

Its people hear of it before. This is a failure that trying again would only repeat.
"""

from __future__ import annotations

from autoscaler.job_vocabulary import EventKind
from autoscaler.reconciling.assessments.disk_excess import excess_of, is_near, sentence, warning
from autoscaler.reconciling.instructions import NOTHING, Instructions, RecordNotice, Tell
from autoscaler.reconciling.rules.ending.stops import fail
from autoscaler.reconciling.snapshot import JobSnapshot


def end_what_writes_too_much(job: JobSnapshot) -> Instructions:
    """End it by the newest measurement; without one, nothing is known against it."""
    found = excess_of(job)
    if found is None:
        return NOTHING
    data = {"bytes": job.disk.disk_bytes, "files": job.disk.disk_files}
    return (fail(found, sentence(found, job), data=data),)


def warn_of_a_filling_disk(job: JobSnapshot) -> Instructions:
    """Its people are told once for each time that it came out of the queue."""
    if job.notices.disk_start == job.starts or not is_near(job):
        return NOTHING
    reason, message = warning(job)
    tell = Tell(
        kind=EventKind.DISK_FILLING,
        reason=reason,
        message=message,
        data={"bytes": job.disk.disk_bytes, "starts": job.starts},
    )
    return tell, RecordNotice(disk_start=job.starts)


def may_not_write_on(job: JobSnapshot) -> bool:
    """True if there is no time for a last checkpoint, which would be as large as any."""
    return excess_of(job) is not None
