"""Which jobs should have fewer workers than they ask for?

One of which a worker has just been refused or killed for its memory should not grow for a while, or
it would be tried every few seconds. One that does nothing may say that it needs few workers then.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from cluster.worker_host import Failing

from autoscaler.planning.snapshot import cluster_state as planning
from jobs.models import Worker

PAUSE: Final = timedelta(minutes=10)  # guessed: an image may have been pushed, a leak is slow
_KEEPS_FROM_GROWING: Final = (
    Failing.OUT_OF_MEMORY,
    Failing.IMAGE_UNAVAILABLE,
    Failing.CANNOT_START,
)


def held_back(now: datetime) -> frozenset[str]:
    """Jobs that had better not grow now."""
    lately = Worker.objects.filter(failing__in=_KEEPS_FROM_GROWING, counted_at__gt=now - PAUSE)
    return frozenset(lately.values_list("job", flat=True))


def kept_from_growing(job: planning.PlannedJob) -> planning.PlannedJob:
    """The job as one that has no use for more workers than it holds, or needs at least."""
    if job.allocation is None:
        return job
    return replace(job, max_workers=max(job.min_workers, job.allocation.workers))


def with_fewest_workers(job: planning.PlannedJob) -> planning.PlannedJob:
    """The job as one that has no use for more workers than it needs at least."""
    fewest = min(job.allowed_workers) if job.allowed_workers else job.min_workers
    allowed = (fewest,) if job.allowed_workers else None
    return replace(
        job,
        max_workers=fewest,
        allowed_workers=allowed,
        requested_workers=None if job.requested_workers is None else fewest,
    )
