"""Which pools ask their cluster for machines now, and what do they give back?

What the plan says of the need for one, and what runs where, is brought together here; what follows
is decided by `cluster.following.asking`, and written by `cluster.nodes.asking`.
"""

from __future__ import annotations

from collections.abc import Sequence

from cluster.following.roster import Roster
from cluster.models import Pool
from cluster.nodes.asking import (
    PoolDemand,
    decide_and_write,
    pools_that_ask,
)

from autoscaler.control_loop.machines.one_more_node import PoolGrowth, StartsOnMore, would_start
from autoscaler.control_loop.plan.deciding import Planner
from autoscaler.control_loop.plan.planning_round import PlanningRound
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.planning.snapshot.cluster_state import ClusterState


def ask_for_machines(
    planned: PlanningRound, roster: Roster | None, context: TickContext, *, planner: Planner
) -> None:
    """Ask for one more machine where a pool needs it, and give back what is idle.

    Raises:
        LeaseLost: another process holds the lease now.
    """
    pools = pools_that_ask()
    if not pools:
        return
    plan, state = planned.decided.plan, planned.state
    demand: dict[str, PoolDemand] = {}
    if state is not None:
        starts = would_start(state, plan, _growths(pools, state), planner=planner)
        prices = {outcome.pool: outcome.price for outcome in plan.pools}
        demand = {
            pool.name: _demand(starts.get(pool.name), prices.get(pool.name))
            for pool in pools
            if pool.name not in planned.decided.unplanned
        }
    decide_and_write(
        pools,
        demand,
        roster,
        busy={process.node for process in context.processes.values()},
        now=context.now,
        writing=context.fence.transaction,
    )


def _growths(pools: Sequence[Pool], state: ClusterState) -> dict[str, PoolGrowth]:
    """Return how far each pool may still grow; one at its end is tried with one more node."""
    there = {pool.name: sum(not node.is_draining for node in pool.nodes) for pool in state.pools}
    return {
        pool.name: PoolGrowth(
            gpus_per_node=pool.gpus_per_node, nodes=pool.nodes_max - there.get(pool.name, 0)
        )
        for pool in pools
        if pool.nodes_max is not None and pool.gpus_per_node is not None
    }


def _demand(starts: StartsOnMore | None, price: float | None) -> PoolDemand:
    if starts is None:
        return PoolDemand(price=price)
    return PoolDemand(startable_jobs=len(starts.jobs), nodes_to_start=starts.nodes, price=price)
