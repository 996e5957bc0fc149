"""How long would a job run alone on a fixed share of its pool? What finish-time fairness needs."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from autoscaler.planning.demand.batch import FeasibleBatches
from autoscaler.planning.demand.sizes import PoolShape, WorkerRules, allowed_sizes
from autoscaler.simulation.engine.truth.profiles import Profile, step_seconds
from autoscaler.simulation.engine.truth.progress import rate_schedule_of

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.cluster_state import PlannedJob, PlannedPool
    from autoscaler.planning.snapshot.job_terms import BatchRange


def isolated_seconds(
    job: PlannedJob,
    profile: Profile,
    pool: PlannedPool,
    *,
    samples: float,
    gpus: float,
    counts_noise: bool,
) -> float:
    """The shortest run on at most so many GPUs, started at once, with the best constant batch.

    On less than its smallest size it would have to share that size, and takes longer in proportion.
    """
    shape = PoolShape.of(pool)
    sizes = allowed_sizes(WorkerRules.of(job), shape) or (job.min_workers,)
    within = [size for size in sizes if size * job.gpus_per_worker <= gpus] or [sizes[0]]
    per_node = shape.workers_per_node(job.gpus_per_worker)
    fastest = min(
        seconds_per_sample(
            profile,
            job.batch,
            workers=size,
            crosses_nodes=size > per_node,
            counts_noise=counts_noise,
        )
        for size in within
    )
    stretch = max(sizes[0] * job.gpus_per_worker / gpus, 1.0)
    return samples * fastest * stretch


@lru_cache(maxsize=1 << 14)
def seconds_per_sample(
    profile: Profile, rules: BatchRange, *, workers: int, crosses_nodes: bool, counts_noise: bool
) -> float:
    """Take the batch that finishes first; infinite where no batch fits so many workers."""
    feasible = FeasibleBatches.of(rules, np.array([workers]), at_most=rules.maximum)
    if not feasible.count[0]:
        return math.inf
    return min(
        (
            rate_schedule_of(
                profile,
                samples=1.0,
                batch=batch,
                rate=batch
                / step_seconds(
                    profile, rules, workers=workers, crosses_nodes=crosses_nodes, batch=batch
                ),
                counts_noise=counts_noise,
            ).seconds_to_end(0.0)
            for batch in set(feasible.candidates(rules.max_per_gpu)[0].tolist())
        ),
    )
