"""Every rule is broken once, on purpose, and must be named."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.decisions.invariants import check
from autoscaler.planning.decisions.plan import Action, Decision, Plan
from autoscaler.planning.planner import plan
from autoscaler.planning.snapshot.cluster_state import Allocation, TeamQuota
from autoscaler.planning.snapshot.vocabulary import Preemptibility
from tests.planning.builders import batch, cluster, running, waiting

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.cluster_state import ClusterState


def decide(job_id: str, action: Action, *places: tuple[str, int], batch_size: int = 64) -> Decision:
    return Decision(
        job_id=job_id,
        action=action,
        allocation=Allocation(workers_by_node=places, global_batch_size=batch_size)
        if places
        else None,
        previous=None,
        reason=JobReason.BEST_ALLOCATION,
    )


START, KEEP, RESCALE, PAUSE, WAIT = (
    Action.START,
    Action.KEEP,
    Action.RESCALE,
    Action.PAUSE,
    Action.WAIT,
)

BROKEN: dict[str, tuple[ClusterState, tuple[Decision, ...]]] = {
    "one_decision_per_job": (cluster(waiting("a"), waiting("b")), (decide("a", WAIT),)),
    "action_fits_phase": (cluster(waiting("a")), (decide("a", KEEP, ("n1", 1)),)),
    "allocation_fits_action": (cluster(running("a", 1)), (decide("a", KEEP),)),
    "non_preemptible_never_paused": (
        cluster(running("a", 1, preemptibility=Preemptibility.NON_PREEMPTIBLE)),
        (decide("a", PAUSE),),
    ),
    "pinned_jobs_stay": (
        cluster(running("a", 1, can_rescale=False)),
        (decide("a", RESCALE, ("n1", 2)),),
    ),
    "worker_range": (cluster(running("a", 1, max_workers=2)), (decide("a", RESCALE, ("n1", 3)),)),
    "allowed_workers": (
        cluster(running("a", 1, allowed_workers=(1, 2, 4))),
        (decide("a", RESCALE, ("n1", 3)),),
    ),
    "batch_range": (
        cluster(waiting("a", batch=batch(64, maximum=128, multiple_of=64))),
        (decide("a", START, ("n1", 1), batch_size=100),),
    ),
    "known_nodes": (cluster(waiting("a")), (decide("a", START, ("n7", 1)),)),
    "no_gpu_used_twice": (
        cluster(running("a", 3), waiting("b")),
        (decide("a", KEEP, ("n1", 3)), decide("b", START, ("n1", 2))),
    ),
    "team_limit": (
        cluster(running("a", 1), quotas={"vision": (1, 2)}),
        (decide("a", RESCALE, ("n1", 3)),),
    ),
    "user_limit": (
        replace(
            cluster(running("a", 1, user="ann")),
            quotas=(
                TeamQuota(team="vision", pool="default", guaranteed_gpus=2, user_limit_gpus=2),
            ),
        ),
        (decide("a", RESCALE, ("n1", 3)),),
    ),
    "guarantees_honoured": (
        cluster(running("a", 4), waiting("b", "language")),
        (decide("a", KEEP, ("n1", 4)), decide("b", WAIT)),
    ),
}


@pytest.mark.parametrize("rule", BROKEN)
def test_a_broken_rule_is_named(rule: str) -> None:
    state, decisions = BROKEN[rule]
    assert [violation.rule for violation in check(state, Plan(decisions=decisions))] == [rule]
    assert check(state, plan(state)) == ()


def test_what_a_team_never_lends_is_not_used_by_others() -> None:
    state = cluster(running("a", 2), quotas={"vision": (2, None), "language": (2, None)})
    keeping = tuple(replace(q, lending_limit_gpus=1) for q in state.quotas)
    state = replace(state, quotas=keeping)
    broken = Plan(decisions=(decide("a", RESCALE, ("n1", 4)),))
    assert [v.rule for v in check(state, broken)] == ["lending_limit"]
    assert check(state, Plan(decisions=(decide("a", RESCALE, ("n1", 3)),))) == ()


def test_a_parents_limit_holds_for_all_below_it() -> None:
    jobs = (running("a", 1), running("b", 1, "language"))
    state = cluster(*jobs, quotas={"research": (2, 3), "vision": (1, None), "language": (1, None)})
    below = tuple(
        q if q.team == "research" else replace(q, parent="research") for q in state.quotas
    )
    broken = Plan(decisions=(decide("a", RESCALE, ("n1", 2)), decide("b", RESCALE, ("n1", 2))))
    assert [v.rule for v in check(replace(state, quotas=below), broken)] == ["team_limit"]


def test_nothing_new_goes_to_a_closed_node() -> None:
    state = cluster(running("a", 1))
    pool = state.pools[0]
    closed = (replace(pool.nodes[0], is_schedulable=False),)
    state = replace(state, pools=(replace(pool, nodes=closed),))
    broken = Plan(decisions=(decide("a", RESCALE, ("n1", 2)),))
    assert [v.rule for v in check(state, broken)] == ["nothing_new_on_closed_nodes"]
    assert check(state, Plan(decisions=(decide("a", KEEP, ("n1", 1)),))) == ()


def test_a_state_that_is_already_broken_is_not_held_against_the_plan() -> None:
    state = cluster(running("a", 3), running("b", 3, "language"))
    kept = Plan(decisions=(decide("a", KEEP, ("n1", 3)), decide("b", KEEP, ("n1", 3))))
    assert check(state, kept) == ()


def test_a_job_waits_rightly_that_needs_more_workers_to_hold_its_batch_in_memory() -> None:
    """Two GPUs are idle within its guarantee; one worker would do, but not for this batch."""
    rules = batch(256, max_per_gpu=64, accumulation=False)
    held = running("b", 2, "language", can_rescale=False)
    state = cluster(waiting("a", batch=rules), held, quotas={"vision": (4, None)})
    result = plan(state)
    assert [d.action for d in result.decisions] == [WAIT, KEEP]
    assert check(state, result) == ()
