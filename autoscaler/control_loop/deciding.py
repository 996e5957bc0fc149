"""Which plan may be applied? A sound one; if need be, one without policies of extensions.

A policy is chosen by an admin and may be anybody's code. One that fails, or whose values make a
plan that breaks an invariant, must not keep a whole cluster from being planned.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from autoscaler.planning.cluster_state import ClusterState, Pool
from autoscaler.planning.decisions import Plan
from autoscaler.planning.invariants import Violation
from autoscaler.planning.policies import BUILT_IN, DEFAULT_POLICY

Planner = Callable[[ClusterState], Plan]
Check = Callable[[ClusterState, Plan], Sequence[Violation]]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A plan, and what is wrong with it or was with the first one; empty: nothing."""

    plan: Plan
    alarm: str = ""
    may_be_applied: bool = True


def decide(state: ClusterState, planner: Planner, check: Check) -> Decided:
    """Plan, and once more without extensions where that fails."""
    first = _attempt(state, planner, check)
    safe = replace(state, pools=tuple(_with_built_in_policy(pool) for pool in state.pools))
    if first.may_be_applied or safe == state:
        return first
    second = _attempt(safe, planner, check)
    if not second.may_be_applied:
        return second
    alarm = f"planned by {DEFAULT_POLICY} instead of policies of extensions: {first.alarm}"
    return replace(second, alarm=alarm)


def _attempt(state: ClusterState, planner: Planner, check: Check) -> Decided:
    try:
        plan = planner(state)
        violations = check(state, plan)
    except Exception as error:  # noqa: BLE001 - whatever it is, jobs still have to be looked after
        _log.exception("The planner failed.", extra={"action": "plan"})
        nothing = Plan(decisions=(), pools=())
        return Decided(plan=nothing, alarm=f"planning failed: {error!r}", may_be_applied=False)
    alarm = "; ".join(f"{violation.rule}: {violation.message}" for violation in violations)
    return Decided(plan=plan, alarm=alarm, may_be_applied=not alarm)


def _with_built_in_policy(pool: Pool) -> Pool:
    name = pool.policy.partition(":")[0]
    return pool if name in BUILT_IN.names else replace(pool, policy=DEFAULT_POLICY)
