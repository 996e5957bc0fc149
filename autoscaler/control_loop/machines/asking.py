"""Which pools ask their cluster for machines now, and what do they give back?

What the plan says of the need for one, and what runs where, is brought together here; what follows
is decided by `cluster.following.asking`, and written by `cluster.nodes.asking`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime

from cluster.following.asking import AskingPool
from cluster.following.roster import Roster
from cluster.nodes.asking import PoolDemand, as_they_are, decide_and_write, pools_that_ask
from cluster.nodes.following import Writing

from autoscaler.control_loop.machines.one_more_node import (
    GrowthQuestions,
    PoolGrowth,
    StartsOnMore,
)
from autoscaler.control_loop.plan.deciding import Planner
from autoscaler.control_loop.plan.planning_round import PlanningRound
from autoscaler.control_loop.tick_context import TickContext


def ask_for_machines(
    planned: PlanningRound,
    roster: Roster | None,
    context: TickContext,
    *,
    planner: Planner,
    questions: GrowthQuestions,
) -> None:
    """Ask for one more machine where a pool needs it, and give back what is idle.

    Raises:
        LeaseLost: another process holds the lease now.
    """
    pools = pools_that_ask()
    if not pools:
        return
    busy = {process.node for process in context.processes.values()}
    seen = as_they_are(pools, roster, busy=busy, now=context.now)
    demand = {} if roster is None else _demands(planned, seen, planner, questions)
    decide_and_write(pools, seen, demand, now=context.now, writing=context.fence.transaction)


def give_back_what_takes_no_work(roster: Roster | None, *, now: datetime, writing: Writing) -> None:
    """Go on where no node answers, so that nothing is planned: machines cost all the same."""
    if pools := pools_that_ask():
        seen = as_they_are(pools, roster, busy=(), now=now)
        decide_and_write(pools, seen, {}, now=now, writing=writing)


def _demands(
    planned: PlanningRound,
    seen: Mapping[str, AskingPool],
    planner: Planner,
    questions: GrowthQuestions,
) -> dict[str, PoolDemand]:
    """Return what each pool needs, of those where the plan says it."""
    state, plan = planned.state, planned.decided.plan
    if state is None:
        return {}
    starts = questions.would_start(state, plan, _growths(seen), planner=planner)
    prices = {outcome.pool: outcome.price for outcome in plan.pools}
    return {
        name: _demand(found, prices.get(name))
        for name, found in starts.items()
        if name not in planned.decided.unplanned
    }


def _growths(seen: Mapping[str, AskingPool]) -> dict[str, PoolGrowth]:
    """Return how far each pool may still grow; one at its end is tried with one more node."""
    return {
        name: PoolGrowth(
            gpus_per_node=pool.rules.gpus_per_node, nodes=pool.rules.nodes_max - pool.count
        )
        for name, pool in seen.items()
        if pool.rules is not None
    }


def _demand(starts: StartsOnMore, price: float | None) -> PoolDemand:
    """A policy may be anybody's, and a price that is no number is none."""
    known = price if price is not None and math.isfinite(price) else None
    return PoolDemand(startable_jobs=len(starts.jobs), nodes_to_start=starts.nodes, price=known)
