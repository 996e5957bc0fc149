"""Which waiting jobs would start if their pool had one more node? The planner is asked once more.

Its own answer counts, with all of its rules: quotas, limits, what borrowers give back, sizes. A
job that waits for something else than GPUs is not among those that it is shown. Where one more node
starts nobody, all that may still come are tried: a job may need several, which come one by one.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from autoscaler.control_loop.plan.deciding import Planner, only
from autoscaler.control_loop.plan.processor_time import ProcessorTime
from autoscaler.planning.decisions.plan import Action, Plan
from autoscaler.planning.snapshot.cluster_state import ClusterState, PlannedNode, PlannedPool

_SECONDS: Final = 4.0  # of the processor, for all pools together; guessed as for one pool's plan

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolGrowth:
    """How a pool may grow."""

    gpus_per_node: int
    nodes: int = 1  # so many more


@dataclass(frozen=True, slots=True, kw_only=True)
class StartsOnMore:
    """Which jobs would start, and on how many more nodes."""

    jobs: frozenset[str]
    nodes: int


def would_start(
    state: ClusterState, plan: Plan, growths: Mapping[str, PoolGrowth], *, planner: Planner
) -> dict[str, StartsOnMore]:
    """Return which jobs of these pools would start; pools of which none would are left out.

    Args:
        state: what was planned.
        plan: what was decided: a job that starts anyway needs no other node.
        growths: by the names of the pools that matter.
        planner: whom to ask. Where it fails, nobody would start.
    """
    waiting = {one.job_id for one in plan.decisions if one.action is Action.WAIT}
    time = ProcessorTime(seconds=_SECONDS)
    found: dict[str, StartsOnMore] = {}
    for pool in state.pools:
        own = frozenset(job.job_id for job in state.jobs if job.pool == pool.name) & waiting
        growth = growths.get(pool.name)
        if growth is None or not own:
            continue
        for nodes in sorted({1, max(growth.nodes, 1)}):
            larger = _larger(state, pool, nodes=nodes, gpus=growth.gpus_per_node)
            if starts := own & _started(larger, planner, time):
                found[pool.name] = StartsOnMore(jobs=starts, nodes=nodes)
                break
    return found


def _larger(state: ClusterState, pool: PlannedPool, *, nodes: int, gpus: int) -> ClusterState:
    """Return the snapshot of this pool alone, with so many more nodes."""
    more = [PlannedNode(name=f"(new {number})", gpus=gpus) for number in range(1, nodes + 1)]
    larger = replace(pool, nodes=(*pool.nodes, *more))
    return replace(only(pool, state), pools=(larger,))


def _started(state: ClusterState, planner: Planner, time: ProcessorTime) -> frozenset[str]:
    try:
        plan = time.bound(lambda: planner(state), at_most=_SECONDS)
    except Exception:  # noqa: BLE001 - whatever it is, the plan without more nodes is carried out
        extra = {"action": "plan", "pool": state.pools[0].name}
        _log.exception("Nobody knows who would start on one more node.", extra=extra)
        return frozenset()
    return frozenset(one.job_id for one in plan.decisions if one.action is Action.START)
