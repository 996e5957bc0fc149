"""Which numbers of workers may a job run with in a pool?

The job's own list if it gives one. Otherwise every step of its range in a small pool, and in a
larger one the counts that pack well: powers of two within a node, then whole nodes, and both ends
of the range. Of more than 64 such counts a geometric selection is kept, so that the work per job
is bounded however large the pool is: near 1,000 workers neighbouring counts differ by little.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from autoscaler.planning.snapshot.cluster_state import PlannedJob, PlannedPool

SMALL_POOL_GPUS: Final = 16  # guessed: up to here an idle GPU costs more than tidy sizes bring
MOST_SIZES: Final = 64


class WorkerRules(NamedTuple):
    """How many workers a job may have. A named tuple, because it is hashed for every job."""

    minimum: int
    maximum: int
    step: int
    allowed: tuple[int, ...] | None
    gpus_per_worker: int

    @classmethod
    def of(cls, job: PlannedJob) -> WorkerRules:
        return cls(
            job.min_workers,
            job.max_workers,
            job.worker_step,
            job.allowed_workers,
            job.gpus_per_worker,
        )


class PoolShape(NamedTuple):
    """What sizes depend on of a pool: (GPUs, number of such nodes), ascending."""

    nodes: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, pool: PlannedPool) -> PoolShape:
        return cls(tuple(sorted(Counter(node.gpus for node in pool.nodes).items())))

    @property
    def gpus(self) -> int:
        return sum(gpus * count for gpus, count in self.nodes)

    def workers(self, gpus_per_worker: int) -> int:
        """Return how many workers the whole pool takes."""
        return sum(gpus // gpus_per_worker * count for gpus, count in self.nodes)

    def workers_per_node(self, gpus_per_worker: int) -> int:
        """Return how many the largest node takes."""
        return self.nodes[-1][0] // gpus_per_worker if self.nodes else 0


def allowed_sizes(rules: WorkerRules, shape: PoolShape) -> tuple[int, ...]:
    """Ascending worker counts, 64 at most; empty when the job fits no way into the pool."""
    largest = min(rules.maximum, shape.workers(rules.gpus_per_worker))
    if rules.allowed is not None:
        counts: Iterable[int] = rules.allowed
    elif shape.gpus <= SMALL_POOL_GPUS:
        counts = range(rules.minimum, largest + 1, rules.step)
    else:
        counts = _tidy(rules, shape, largest)
    return _thinned(sorted({count for count in counts if rules.minimum <= count <= largest}))


def _tidy(rules: WorkerRules, shape: PoolShape, largest: int) -> Iterable[int]:
    """Counts that fill nodes, each moved down onto the nearest step of the job's range."""
    per_node = max(shape.workers_per_node(rules.gpus_per_worker), 1)
    powers = [2**power for power in range(per_node.bit_length())]
    ends = [rules.minimum] + [rules.maximum] * (rules.maximum == largest)
    for count in (*powers, *range(per_node, largest + 1, per_node), *ends):
        yield rules.minimum + (count - rules.minimum) // rules.step * rules.step


def _thinned(counts: list[int]) -> tuple[int, ...]:
    if len(counts) <= MOST_SIZES:
        return tuple(counts)
    kept = np.geomspace(1, len(counts), MOST_SIZES).round().astype(int) - 1
    return tuple(counts[index] for index in np.unique(kept).tolist())
