"""The founding paper's baseline: workers are elastic, the batch is not."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from autoscaler.planning.demand.batch import fewest_workers
from autoscaler.planning.policies.options import option
from autoscaler.planning.policies.throughput import Throughput

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.cluster_state import PlannedJob
    from autoscaler.planning.snapshot.job_terms import BatchRange


class FixedAt(StrEnum):
    """Where in a job's range its batch is fixed."""

    MIN = "min"
    MAX = "max"
    RANDOM = "random"  # another place for each job, always the same for the same job id


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedBatch(Throughput):
    """S_j(k) at one batch b for all k.

    Where gradients are not accumulated, a job with a large batch needs at least b / (samples that
    fit on one GPU) workers even to start. So its range ends at what its `max_workers` can hold.
    """

    name: ClassVar = "fixed_batch"
    summary: ClassVar = "makes the sum of speedups large, at one batch for each job (a baseline)"

    batch: FixedAt = option(
        FixedAt.MAX, "Where in a job's batch range its batch is fixed: min, max or random."
    )

    def restrict(self, job: PlannedJob) -> PlannedJob:
        fixed = _fixed(_held(job), self.batch, seed=job.job_id)
        return replace(job, batch=replace(job.batch, base=fixed, minimum=fixed, maximum=fixed))


def _held(job: PlannedJob) -> BatchRange:
    """The batches of its range that so many workers as it may have hold in memory, if any."""
    rules = job.batch
    if rules.max_per_gpu is None or rules.accumulation:
        return rules
    most = rules.max_per_gpu * max(job.allowed_workers or (job.max_workers,))
    is_possible = fewest_workers(rules) * rules.max_per_gpu <= most
    return replace(rules, maximum=min(rules.maximum, most)) if is_possible else rules


def _fixed(rules: BatchRange, at: FixedAt, *, seed: str) -> int:
    unit = rules.multiple_of
    lowest, highest = -(-rules.minimum // unit), rules.maximum // unit
    match at:
        case FixedAt.MIN:
            units = lowest
        case FixedAt.MAX:
            units = highest
        case FixedAt.RANDOM:
            units = lowest + zlib.crc32(seed.encode()) % (highest - lowest + 1)
    return units * unit
