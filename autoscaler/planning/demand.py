"""What could each job get, and how fast would it be? One `Demand` per job, before any choice.

A demand lists the sizes a job may take now, each with its best batch, predicted throughput and
speedup S(k) = T(b_opt(k), k) / T(base batch, smallest size). A job that was never measured may not
grow: it first runs at its smallest size until it has been measured there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from autoscaler.planning.batch import LARGEST_STEP, best_batch, nearest_batch, samples_per_second
from autoscaler.planning.cluster_state import Allocation, JobPhase, Preemptibility
from autoscaler.planning.sizes import allowed_sizes, workers_per_node

if TYPE_CHECKING:
    from autoscaler.planning.cluster_state import Job, Pool
    from autoscaler.planning.scaling import ScalingModel

LARGEST_LEAP: Final = 2  # at most so many times the largest number of workers ever measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """A number of workers with its batch and what the model predicts. A rate of 0: not known."""

    workers: int
    global_batch_size: int
    samples_per_second: float
    speedup: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """All the planner needs to know of one job to choose its size."""

    job: Job
    allocation: Allocation | None  # held now, or promised by a change under way; known nodes only
    present: Size | None  # that allocation, as a size
    sizes: tuple[Size, ...]  # ascending; empty: the job fits no way into the pool
    larger: tuple[Size, ...]  # sizes beyond what may be tried now, for explanations
    remaining_seconds: float | None  # at the smallest size; None: unknown
    is_pinned: bool  # nothing but the present size may be chosen
    stuck_workers: int  # on nodes that take nothing new: nobody else could use their GPUs

    @property
    def held(self) -> int:
        return self.allocation.workers if self.allocation else 0

    @property
    def held_gpus(self) -> int:
        return self.held * self.job.gpus_per_worker

    @property
    def stuck_gpus(self) -> int:
        return self.stuck_workers * self.job.gpus_per_worker

    @property
    def smallest_gpus(self) -> int:
        return self.sizes[0].workers * self.job.gpus_per_worker

    @property
    def needed_gpus(self) -> int:
        """Its smallest size, also for a job that fits no way into the pool."""
        fewest = self.job.min_workers * self.job.gpus_per_worker
        return self.smallest_gpus if self.sizes else fewest

    @property
    def floor_gpus(self) -> int:
        """What the job needs at least once it can be changed again."""
        return min(self.smallest_gpus, self.job.min_workers * self.job.gpus_per_worker)

    @property
    def is_active(self) -> bool:
        return self.job.phase is JobPhase.ACTIVE

    @property
    def can_be_paused(self) -> bool:
        return (
            self.is_active
            and (self.job.can_rescale or self.job.can_pause)
            and self.job.preemptibility is not Preemptibility.NON_PREEMPTIBLE
        )


def demand_of(job: Job, pool: Pool) -> Demand:
    """Everything the job could run with in this pool at this moment."""
    allocation = _expected_allocation(job, pool)
    outlook = _Outlook.of(job, pool, allocation)
    stuck = _stuck_workers(allocation, pool)
    present = outlook.present(allocation) if allocation is not None else None
    is_pinned = present is not None and not job.can_rescale
    sizes = tuple(filter(None, map(outlook.size, _counts(job, pool, present, stuck))))
    reach = max(outlook.reach, present.workers if present else 0)
    cannot_leave = not sizes and job.preemptibility is Preemptibility.NON_PREEMPTIBLE
    if present is not None and (is_pinned or cannot_leave):
        sizes, reach = (present,), present.workers
    within = tuple(size for size in sizes if size.workers <= reach) or sizes[:1]
    return Demand(
        job=job,
        allocation=allocation,
        present=present,
        sizes=within,
        larger=sizes[len(within) :],
        remaining_seconds=outlook.remaining_seconds,
        is_pinned=is_pinned,
        stuck_workers=stuck,
    )


def next_larger(demand: Demand, workers: int) -> Size | None:
    """The next size up, even one that may not be tried yet."""
    sizes = (*demand.sizes, *demand.larger)
    return next((size for size in sizes if size.workers > workers), None)


def _expected_allocation(job: Job, pool: Pool) -> Allocation | None:
    """Where the job stands or is being brought to, without workers on nodes that are gone."""
    allocation = job.allocation if job.target is None else job.target
    if job.phase is JobPhase.WAITING or allocation is None:
        return None
    nodes = {node.name for node in pool.nodes}
    alive = tuple((node, count) for node, count in allocation.workers_by_node if node in nodes)
    return replace(allocation, workers_by_node=alive)


def _stuck_workers(allocation: Allocation | None, pool: Pool) -> int:
    closed = {node.name for node in pool.nodes if not node.is_schedulable}
    held = allocation.workers_by_node if allocation else ()
    return sum(count for node, count in held if node in closed)


def _counts(job: Job, pool: Pool, present: Size | None, stuck: int) -> tuple[int, ...]:
    """Worker counts to consider, with the present one wherever the job may stay there."""
    counts = allowed_sizes(job, pool)
    if present is not None and 0 < present.workers <= job.max_workers:
        allowed = job.min_workers <= present.workers and job.allowed_workers is None
        if allowed or job.preemptibility is Preemptibility.NON_PREEMPTIBLE:
            counts = tuple(sorted({*counts, present.workers}))
    # GPUs of a closed node are of use to this job only, so it keeps them while it can.
    return tuple(count for count in counts if count >= stuck) or counts[-1:]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outlook:
    """Predicts one job in one pool."""

    job: Job
    scaling: ScalingModel | None
    per_node: int
    smallest: int
    current_batch: int | None
    base_rate: float

    @classmethod
    def of(cls, job: Job, pool: Pool, allocation: Allocation | None) -> _Outlook:
        smallest = next(iter(allowed_sizes(job, pool)), job.min_workers)
        outlook = cls(
            job=job,
            scaling=job.scaling,
            per_node=workers_per_node(job, pool),
            smallest=smallest,
            current_batch=allocation.global_batch_size if allocation else None,
            base_rate=0.0,
        )
        base = nearest_batch(job.batch, workers=smallest, wanted=job.batch.base) or job.batch.base
        return replace(outlook, base_rate=outlook.rate(smallest, base))

    @property
    def reach(self) -> int:
        """The most workers that may be tried now."""
        measured = self.scaling.measured_workers if self.scaling else 0
        return max(LARGEST_LEAP * measured, self.smallest)

    @property
    def remaining_seconds(self) -> float | None:
        """Remaining work: time at the base rate."""
        if self.job.remaining_samples is None or not self.base_rate:
            return None
        return self.job.remaining_samples / self.base_rate

    def rate(self, workers: int, batch: int, *, crosses_nodes: bool | None = None) -> float:
        if self.scaling is None or workers == 0:
            return 0.0
        crosses = workers > self.per_node if crosses_nodes is None else crosses_nodes
        rates = samples_per_second(
            self.scaling.throughput,
            self.job.batch,
            batches=np.array([batch]),
            workers=workers,
            crosses_nodes=crosses,
        )
        return float(rates[0])

    def present(self, allocation: Allocation) -> Size:
        crosses = len(allocation.workers_by_node) > 1
        batch = allocation.global_batch_size
        return self._sized(
            allocation.workers, batch, self.rate(allocation.workers, batch, crosses_nodes=crosses)
        )

    def size(self, workers: int) -> Size | None:
        """So many workers with their best batch; None when no batch fits so many."""
        if self.scaling is None:
            wanted = self.current_batch or self.job.batch.base
            batch = nearest_batch(self.job.batch, workers=workers, wanted=wanted)
            return None if batch is None else self._sized(workers, batch, 0.0)
        best = best_batch(
            self.scaling.throughput,
            self.job.batch,
            workers=workers,
            crosses_nodes=workers > self.per_node,
            at_most=self._largest_batch(),
            current=self.current_batch,
        )
        return None if best is None else self._sized(workers, *best)

    def _sized(self, workers: int, batch: int, rate: float) -> Size:
        """Unmeasured jobs count as if they scaled with the square root of their workers."""
        guess = math.sqrt(max(workers, 1) / self.smallest)
        return Size(
            workers=workers,
            global_batch_size=batch,
            samples_per_second=rate,
            speedup=rate / self.base_rate if rate else guess,
        )

    def _largest_batch(self) -> int:
        measured = self.scaling.measured_batch if self.scaling else 0
        if self.current_batch is None:  # a start: nothing larger than what is known to work
            return max(measured, self.job.batch.base)
        grown = LARGEST_STEP * min(measured, self.current_batch)
        return max(grown, self.current_batch, self.job.batch.base)
