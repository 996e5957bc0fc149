"""Which waiting jobs would start if their pool had one more node? The planner is asked once more.

Its own answer counts, with all of its rules: quotas, limits, what borrowers give back, sizes. A
job that waits for something else than GPUs is not among those that it is shown. Where one more node
starts nobody, so many are tried as the largest of the jobs can use, of those that may still come: a
job may need several, which come one by one.

What took long is not asked at each tick: an answer holds for ten times as long as it took. Where
the planner fails nobody knows, which is another answer than that nobody would start.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from autoscaler.control_loop.plan.deciding import Planner, only
from autoscaler.control_loop.plan.processor_time import ProcessorTime
from autoscaler.planning.decisions.plan import Action, Plan
from autoscaler.planning.snapshot.cluster_state import (
    ClusterState,
    JobPhase,
    PlannedJob,
    PlannedNode,
    PlannedPool,
)

_SECONDS: Final = 4.0  # of the processor, for all pools together; guessed as for one pool's plan
_HOLDS: Final = 10.0  # times as long as it took: so much of the processor's time, at most, is ours
_AGAIN_SECONDS: Final = 60.0  # after it failed

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolGrowth:
    """How a pool may grow."""

    gpus_per_node: int
    nodes: int = 1  # so many more


@dataclass(frozen=True, slots=True, kw_only=True)
class StartsOnMore:
    """Which jobs would start, and on how many more nodes; without jobs: nobody would."""

    jobs: frozenset[str] = frozenset()
    nodes: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    starts: StartsOnMore | None  # None: the planner failed
    given_at: float  # on the clock of snapshots
    holds_until: float


@dataclass(slots=True, kw_only=True)
class GrowthQuestions:
    """Those of one process. What it remembers may be lost."""

    _answers: dict[str, _Answer] = field(default_factory=dict)

    def would_start(
        self,
        state: ClusterState,
        plan: Plan,
        growths: Mapping[str, PoolGrowth],
        *,
        planner: Planner,
    ) -> dict[str, StartsOnMore]:
        """Return who would start in each of these pools; those of which nobody knows are left out.

        A job that names several pools counts in the first of them that may have more nodes.

        Args:
            state: what was planned.
            plan: what was decided: a job that starts anyway needs no other node.
            growths: by the names of the pools that matter.
            planner: whom to ask.
        """
        waiting = {one.job_id for one in plan.decisions if one.action is Action.WAIT}
        placed = replace(state, jobs=tuple(_where_it_counts(job, growths) for job in state.jobs))
        time = ProcessorTime(seconds=_SECONDS)
        found: dict[str, StartsOnMore] = {}
        self._answers = {name: one for name, one in self._answers.items() if name in growths}
        for pool in placed.pools:
            if (growth := growths.get(pool.name)) is None:
                continue
            own = frozenset(j.job_id for j in placed.jobs if j.pool == pool.name) & waiting
            if not own:
                found[pool.name] = StartsOnMore()
                continue
            starts = self._answer(placed, pool, growth, own, planner=planner, time=time)
            if starts is not None:
                found[pool.name] = starts
        return found

    def _answer(
        self,
        state: ClusterState,
        pool: PlannedPool,
        growth: PoolGrowth,
        own: frozenset[str],
        *,
        planner: Planner,
        time: ProcessorTime,
    ) -> StartsOnMore | None:
        known = self._answers.get(pool.name)
        if known is not None and known.given_at <= state.now < known.holds_until:
            return _still(known.starts, own)
        began, starts = time.spent, None
        try:
            starts = _asked(state, pool, growth, own, planner=planner, time=time)
        except Exception:  # noqa: BLE001 - whatever it is, the plan without more is carried out
            if began >= time.seconds:
                return None  # there was no time for it in this tick: its turn is in the next
            extra = {"action": "plan", "pool": pool.name}
            _log.exception("Nobody knows who would start on one more node.", extra=extra)
        holds = _HOLDS * (time.spent - began)
        if starts is None:
            holds = max(holds, _AGAIN_SECONDS)
        self._answers[pool.name] = _Answer(
            starts=starts, given_at=state.now, holds_until=state.now + holds
        )
        return starts


def _still(starts: StartsOnMore | None, own: Collection[str]) -> StartsOnMore | None:
    """Return what an earlier answer says of those that wait now; None: nothing."""
    if starts is None or not starts.jobs:
        return starts
    left = starts.jobs.intersection(own)
    return replace(starts, jobs=left) if left else None


def _asked(
    state: ClusterState,
    pool: PlannedPool,
    growth: PoolGrowth,
    own: frozenset[str],
    *,
    planner: Planner,
    time: ProcessorTime,
) -> StartsOnMore:
    jobs = [job for job in state.jobs if job.job_id in own]
    for nodes in sorted({1, _useful(jobs, growth)}):
        larger = _larger(state, pool, nodes=nodes, gpus=growth.gpus_per_node)
        plan = time.bound(partial(planner, larger), at_most=_SECONDS)
        started = {one.job_id for one in plan.decisions if one.action is Action.START}
        if starting := own & started:
            return StartsOnMore(jobs=starting, nodes=nodes)
    return StartsOnMore()


def _useful(jobs: Iterable[PlannedJob], growth: PoolGrowth) -> int:
    """Return on how many more nodes each of them would fit: a thousand would cost much to plan."""
    fitting = ((job.max_workers, growth.gpus_per_node // job.gpus_per_worker) for job in jobs)
    most = max((math.ceil(workers / on_one) for workers, on_one in fitting if on_one), default=1)
    return max(min(growth.nodes, most), 1)


def _where_it_counts(job: PlannedJob, growths: Mapping[str, PoolGrowth]) -> PlannedJob:
    """Return the job in the first of its pools that may have more nodes, and in that one only."""
    if not job.other_pools or job.phase is not JobPhase.WAITING:
        return job
    names = (job.pool, *(one.name for one in job.other_pools))
    growing = (name for name in names if name in growths and growths[name].nodes > 0)
    return replace(job.in_pool(next(growing, job.pool)), other_pools=())


def _larger(state: ClusterState, pool: PlannedPool, *, nodes: int, gpus: int) -> ClusterState:
    """Return the snapshot of this pool alone, with so many more nodes."""
    more = [PlannedNode(name=f"(new {number})", gpus=gpus) for number in range(1, nodes + 1)]
    larger = replace(pool, nodes=(*pool.nodes, *more))
    return replace(only(pool, state), pools=(larger,))
