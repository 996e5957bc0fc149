"""What a scheduler without elasticity does: the requested workers, the base batch, or waiting."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from autoscaler.planning.policies.throughput import Throughput

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.cluster_state import PlannedJob


@dataclass(frozen=True, slots=True, kw_only=True)
class Static(Throughput):
    """Each job runs at `requested_workers`, or at `max_workers` where it requests none."""

    name: ClassVar = "static"
    summary: ClassVar = "gives the requested workers, first come, first served (a baseline)"

    def restrict(self, job: PlannedJob) -> PlannedJob:
        requested = _nearest_allowed(job, job.requested_workers or job.max_workers)
        base = job.batch.base
        return replace(
            job,
            min_workers=requested,
            max_workers=requested,
            allowed_workers=(requested,),
            batch=replace(job.batch, minimum=base, maximum=base),
        )


def _nearest_allowed(job: PlannedJob, requested: int) -> int:
    steps = range(job.min_workers, job.max_workers + 1, job.worker_step)
    allowed = job.allowed_workers or steps or (job.min_workers,)
    return min(allowed, key=lambda workers: (abs(workers - requested), workers))
