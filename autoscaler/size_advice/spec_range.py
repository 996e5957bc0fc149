"""What does a job's spec say once it has the range of workers that is suggested?

A spec lists what it allows, or steps; and it may say how many workers it would like. All of that
has to fit into the range, else the spec is refused.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from autoscaler.size_advice.arithmetic import SuggestedRange
from jobs.spec.feasibility import BatchBounds, WorkerRange, worker_counts


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecRange:
    """Those fields of `elastic` that the range changes; None: the spec does not have it."""

    allowed_workers: list[int] | None
    requested_workers: int | None


def usable_workers(elastic: WorkerRange, bounds: BatchBounds) -> Collection[int]:
    """Return the numbers of workers that the job allows and that some batch fits."""
    return {k for k in worker_counts(elastic) if bounds.smallest_for(k) is not None}


def range_in_spec(elastic: WorkerRange, suggested: SuggestedRange) -> SpecRange:
    """Return what else has to change with the least and the most workers."""
    least, most = suggested.min_workers, suggested.max_workers
    counts = [k for k in worker_counts(elastic) if least <= k <= most] or [most]
    requested = elastic.requested_workers
    if requested is not None:
        requested = max((k for k in counts if k <= requested), default=counts[0])
    return SpecRange(
        allowed_workers=None if elastic.allowed_workers is None else counts,
        requested_workers=requested,
    )
