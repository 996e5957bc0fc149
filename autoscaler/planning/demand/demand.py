"""What could each job get, and how fast would it be? One `Demand` per job, before any choice.

A demand is a job's curve (see `curves`) seen from where the job stands now: which sizes it may
take, which of them is its present one, and whether it may leave that. A job that was never
measured may not grow: it first runs at its smallest size until it has been measured there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from autoscaler.planning.demand.batch import fewest_workers
from autoscaler.planning.demand.curve_inputs import CurveInputs
from autoscaler.planning.demand.curves import Curve, Size, curve_of, size_at
from autoscaler.planning.demand.sizes import PoolShape
from autoscaler.planning.demand.trials import with_a_trial
from autoscaler.planning.demand.usefulness import useful_size
from autoscaler.planning.snapshot.cluster_state import Allocation, JobPhase
from autoscaler.planning.snapshot.vocabulary import Preemptibility

if TYPE_CHECKING:
    from collections.abc import Iterable

    from autoscaler.planning.placement.seats import WorkersByNode
    from autoscaler.planning.snapshot.cluster_state import PlannedJob, PlannedPool

__all__ = ["Demand", "Size", "demand_of", "demands_of", "next_larger"]


@dataclass(frozen=True, kw_only=True)
class Demand:
    """All the planner needs to know of one job to choose its size.

    Without slots, so that what every step of a plan asks for is reckoned once.
    """

    job: PlannedJob
    allocation: Allocation | None  # held now, or promised by a change under way; known nodes only
    present: Size | None  # that allocation, as a size
    sizes: tuple[Size, ...]  # ascending; empty: the job fits no way into the pool
    larger: tuple[Size, ...]  # sizes beyond what may be tried now, for explanations
    remaining_seconds: float | None  # at the smallest size; None: unknown
    is_pinned: bool  # nothing but the present size may be chosen
    stuck_workers: int  # on nodes that take nothing new: nobody else could use their GPUs
    displaced_workers: int  # on nodes that are being drained: they have to leave
    curve_inputs: CurveInputs  # what its sizes were predicted from
    useful_workers: int  # more make it no faster; also while it is pinned

    @cached_property
    def held(self) -> int:
        return self.allocation.workers if self.allocation else 0

    @property
    def seconds_left(self) -> float | None:
        """Return them at its present speed. None: its length is unknown, or it holds nothing."""
        if self.remaining_seconds is None or self.present is None or self.present.speedup <= 0:
            return None
        return self.remaining_seconds / self.present.speedup

    @property
    def placement(self) -> WorkersByNode:
        """Return where its workers are now, or are being brought to."""
        return self.allocation.workers_by_node if self.allocation else ()

    @cached_property
    def held_gpus(self) -> int:
        return self.held * self.job.gpus_per_worker

    @property
    def stuck_gpus(self) -> int:
        return self.stuck_workers * self.job.gpus_per_worker

    @property
    def useful_gpus(self) -> int:
        return self.useful_workers * self.job.gpus_per_worker

    @cached_property
    def smallest_gpus(self) -> int:
        return self.sizes[0].workers * self.job.gpus_per_worker

    @property
    def needed_gpus(self) -> int:
        """Its smallest size, also for a job that fits no way into the pool."""
        if self.sizes:
            return self.smallest_gpus
        return max(self.job.min_workers, fewest_workers(self.job.batch)) * self.job.gpus_per_worker

    @property
    def floor_gpus(self) -> int:
        """The GPUs that the job needs at least once it can be changed again."""
        return min(self.smallest_gpus, self.job.min_workers * self.job.gpus_per_worker)

    @property
    def is_active(self) -> bool:
        return self.job.phase is JobPhase.ACTIVE

    @property
    def is_scattered(self) -> bool:
        """Stands on several nodes, though one could take so many workers."""
        if self.present is None or not self.present.spans_nodes:
            return False
        held = next((size for size in self.sizes if size.workers == self.held), None)
        return held is not None and not held.spans_nodes

    def across(self, size: Size) -> Size:
        """The same workers and batch on several nodes, where nobody gets faster.

        A model that has seen one kind of placement only may think otherwise.
        """
        if size.spans_nodes or size.workers == 1:
            return size
        across = size_at(self.curve_inputs, size.workers, size.global_batch_size, True)
        slower = min(across, size, key=lambda one: one.samples_per_second)
        return replace(slower, spans_nodes=True)

    def together_up_to(self, workers: int) -> Demand:
        """The demand where no node takes more of its workers: larger sizes span nodes.

        So does the present one, when it has to leave its places.
        """
        is_split_up = self.displaced_workers and self.held > workers
        present = self.across(self.present) if self.present and is_split_up else self.present
        sizes = tuple(self.across(s) if s.workers > workers else s for s in self.sizes)
        return replace(self, sizes=sizes, present=present)

    def staying(self) -> Demand:
        """The demand of an active job that keeps what it holds, where it stands."""
        assert self.present is not None  # noqa: S101 - the job is active
        return replace(
            self,
            sizes=(self.present,),
            larger=(),
            is_pinned=True,
            stuck_workers=self.stuck_workers + self.displaced_workers,
            displaced_workers=0,
        )

    @property
    def can_be_paused(self) -> bool:
        return (
            self.is_active
            and (self.job.can_rescale or self.job.can_pause)
            and self.job.preemptibility is not Preemptibility.NON_PREEMPTIBLE
        )


def demands_of(
    jobs: Iterable[PlannedJob], pool: PlannedPool, now: float = math.inf
) -> list[Demand]:
    """One for each job, in order; about 20 microseconds each while nothing about a job changes.

    Without `now`, no change is so fresh that it holds anything back.
    """
    ground = _PoolContext.of(pool, now)
    return [_demand(job, ground) for job in jobs]


def demand_of(job: PlannedJob, pool: PlannedPool) -> Demand:
    """Everything the job could run with in this pool at this moment."""
    return _demand(job, _PoolContext.of(pool, math.inf))


def next_larger(demand: Demand, workers: int) -> Size | None:
    """The next size up, even one that may not be tried yet."""
    sizes = (*demand.sizes, *demand.larger)
    return next((size for size in sizes if size.workers > workers), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _PoolContext:
    """What the demands of a pool's jobs have in common."""

    shape: PoolShape
    nodes: frozenset[str]
    closed: frozenset[str]  # nodes that take nothing new
    draining: frozenset[str]  # of these, the nodes that workers have to leave
    now: float

    @classmethod
    def of(cls, pool: PlannedPool, now: float) -> _PoolContext:
        return cls(
            now=now,
            shape=PoolShape.of(pool),
            nodes=frozenset(node.name for node in pool.nodes),
            closed=frozenset(node.name for node in pool.nodes if not node.is_schedulable),
            draining=frozenset(node.name for node in pool.nodes if node.is_draining),
        )


def _demand(job: PlannedJob, ground: _PoolContext) -> Demand:
    allocation = _expected_allocation(job, ground)
    inputs = CurveInputs.of(job, ground.shape, allocation, ground.now)
    present = _present(inputs, allocation)
    displaced = _workers_on(ground.draining, allocation) if job.can_rescale else 0
    stuck = _workers_on(ground.closed, allocation) - displaced
    inputs = _with_present(inputs, job, present)
    curve = curve_of(inputs)
    sizes, reach = _choices(curve, present, stuck)
    sizes = with_a_trial(sizes, present, job, ground.now)
    useful = useful_size(sizes[:reach]).workers if sizes else 0
    is_pinned = present is not None and not job.can_rescale
    cannot_leave = not sizes and job.preemptibility is Preemptibility.NON_PREEMPTIBLE
    if present is not None and (is_pinned or cannot_leave):
        sizes, reach = (present,), 1
    return Demand(
        job=job,
        allocation=allocation,
        present=present,
        sizes=sizes[:reach],
        larger=sizes[reach:],
        remaining_seconds=_remaining_seconds(job, curve),
        is_pinned=is_pinned,
        stuck_workers=stuck,
        displaced_workers=displaced,
        curve_inputs=inputs,
        useful_workers=max(useful, sizes[0].workers if sizes else 0),
    )


def _expected_allocation(job: PlannedJob, ground: _PoolContext) -> Allocation | None:
    """Return where the job is, or is being brought to, leaving out nodes that are gone."""
    allocation = job.allocation if job.target is None else job.target
    if job.phase is JobPhase.WAITING or allocation is None:
        return None
    if all(node in ground.nodes for node, _ in allocation.workers_by_node):
        return allocation
    alive = tuple((n, count) for n, count in allocation.workers_by_node if n in ground.nodes)
    return replace(allocation, workers_by_node=alive)


def _workers_on(nodes: frozenset[str], allocation: Allocation | None) -> int:
    if allocation is None or not nodes:
        return 0
    return sum(count for node, count in allocation.workers_by_node if node in nodes)


def _present(inputs: CurveInputs, allocation: Allocation | None) -> Size | None:
    if allocation is None:
        return None
    crosses_nodes = len(allocation.workers_by_node) > 1
    return size_at(inputs, allocation.workers, allocation.global_batch_size, crosses_nodes)


def _with_present(inputs: CurveInputs, job: PlannedJob, present: Size | None) -> CurveInputs:
    """Asks for the present size too, wherever the job may stay there."""
    if present is None or not 0 < present.workers <= job.max_workers:
        return inputs
    may_stay = job.min_workers <= present.workers and job.allowed_workers is None
    if may_stay or job.preemptibility is Preemptibility.NON_PREEMPTIBLE:
        return inputs._replace(also=present.workers)
    return inputs


def _choices(curve: Curve, present: Size | None, stuck: int) -> tuple[tuple[Size, ...], int]:
    """The sizes a job may take, and how many of them may be tried now."""
    sizes, reach = curve.sizes, curve.reach
    if present is not None:
        held = sum(size.workers <= present.workers for size in sizes)
        reach = max(reach, held)
    if stuck and sizes:  # of use to this job only, so it keeps those GPUs while it can
        below = sum(size.workers < stuck for size in sizes)
        below = min(below, len(sizes) - 1)
        sizes, reach = sizes[below:], max(reach - below, 1)
    return sizes, reach


def _remaining_seconds(job: PlannedJob, curve: Curve) -> float | None:
    """Remaining work: time at the base rate."""
    if job.remaining_samples is None or not curve.base_rate:
        return None
    return job.remaining_samples / curve.base_rate
