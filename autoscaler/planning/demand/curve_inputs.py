"""What does the speed of a job at each size depend on? All that its curve is computed from."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from autoscaler.planning.demand.batch_growth import has_settled
from autoscaler.planning.demand.sizes import PoolShape, WorkerRules
from autoscaler.planning.speed.sample_worth import known_noise

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.cluster_state import Allocation, PlannedJob
    from autoscaler.planning.snapshot.job_terms import BatchRange
    from autoscaler.planning.speed.scaling import ScalingModel


class CurveInputs(NamedTuple):
    """A named tuple, because it is hashed for every job and tick."""

    scaling: ScalingModel | None
    batch: BatchRange
    workers: WorkerRules
    shape: PoolShape
    current_batch: int | None  # None: not started, or the batch is constant anyway
    noise_scale: float | None
    may_grow: bool = True  # its batch, for it has trained with the present one for a while
    is_measurable: bool = True
    shares_work: bool = True
    also: int = 0  # a number of workers the job holds though it is none of its sizes

    @classmethod
    def of(
        cls, job: PlannedJob, shape: PoolShape, allocation: Allocation | None, now: float = math.inf
    ) -> CurveInputs:
        has_choice = job.batch.minimum < job.batch.maximum
        current = allocation.global_batch_size if allocation and has_choice else None
        return cls(
            job.scaling,
            job.batch,
            WorkerRules.of(job),
            shape,
            current,
            known_noise(job.noise_scale),
            current is None or has_settled(job, now),
            job.is_measurable,
            job.shares_work,
        )

    @property
    def workers_per_node(self) -> int:
        return self.shape.workers_per_node(self.workers.gpus_per_worker)
