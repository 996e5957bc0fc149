"""How many samples does one worker hold at once? As declared, or found by running out of memory.

A limit that was found is remembered per type of GPU. The smaller of both counts for the planner,
for workers that start, and for the people who look at the job.
"""

from __future__ import annotations

from collections.abc import Mapping

from autoscaler.job_vocabulary import EventKind, JobReason
from jobs.changes import events
from jobs.models import Job
from jobs.spec.batch import LARGEST_BATCH


def of(job: Job, declared: int | None, *, gpu_type: str | None = None) -> int | None:
    """Return how many samples fit a worker; None if nobody knows a limit.

    Args:
        job: whose workers they are.
        declared: as its spec says.
        gpu_type: of the worker; None: that of the pool in which the job is.
    """
    found = job.batch_limits.get(job.pool.gpu_type if gpu_type is None else gpu_type)
    known = [limit for limit in (declared, found) if isinstance(limit, int)]
    return min(*known, LARGEST_BATCH) if known else None


def learn(
    job_id: str, reported: int | None, *, gpu_type: str, known: Mapping[str, int]
) -> dict[str, int] | None:
    """Tell of a limit that is lower than the one found before; return all limits then known.

    Call it in a transaction that stores them.
    """
    if reported is None or reported >= known.get(gpu_type, reported + 1):
        return None
    events.record(
        job_id=job_id,
        kind=EventKind.BATCH_LIMIT_FOUND,
        reason=JobReason.OUT_OF_MEMORY,
        message=f"A worker ran out of memory: from now on at most {reported} samples at once"
        f" on {gpu_type}; larger shares are accumulated.",
        data={"gpu_type": gpu_type, "samples": reported},
    )
    return {**known, gpu_type: reported}
