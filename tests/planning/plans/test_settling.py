"""Does the planner come to rest? With a fixed set of jobs nobody takes turns."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoscaler.planning.decisions.plan import Action
from autoscaler.planning.planner import plan
from autoscaler.planning.snapshot.cluster_state import JobPhase, ReclaimRules
from autoscaler.planning.snapshot.vocabulary import ReclaimTarget
from tests.campaigns import examples
from tests.planning.builders import SCALES_WELL, applied, cluster, measured, running, waiting
from tests.planning.random_states import states

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autoscaler.planning.snapshot.cluster_state import ClusterState

MANY = examples(120)
SOME = examples(60)

SLOWS_DOWN = measured((1, 100), (2, 86), (3, 89))
TICK_SECONDS = 5.0
TICKS_TO_SETTLE = 3
TICKS_TO_STAY = 5


def next_tick(state: ClusterState) -> tuple[ClusterState, Mapping[str, Action]]:
    """The state a tick later, and what changed: for whom, and how."""
    result = plan(state)
    changed = {d.job_id: d.action for d in result.decisions if d.allocation != d.previous}
    return replace(applied(state, result), now=state.now + TICK_SECONDS), changed


def with_rules(state: ClusterState, rules: ReclaimRules, usage_weight: float) -> ClusterState:
    pool = replace(state.pools[0], reclaim=rules, usage_weight=usage_weight)
    return replace(state, pools=(pool,))


def test_two_teams_do_not_take_turns_because_who_runs_is_charged_for_it() -> None:
    state = with_rules(
        cluster(waiting("a", "vision"), waiting("b", "language"), nodes=(1,), quotas={}),
        ReclaimRules(target=ReclaimTarget.FAIR_SHARE),
        1.0,
    )
    state, changed = next_tick(state)
    assert len(changed) == 1
    for _ in range(TICKS_TO_STAY):
        state, changed = next_tick(state)
        assert changed == {}


def test_a_pause_and_what_it_makes_possible_are_one_plan() -> None:
    """Vision's second job fits once the borrower is gone, which its first job takes care of."""
    borrower = running("b", 2, "language", min_workers=2, max_workers=2)
    jobs = (waiting("a1", max_workers=1), waiting("a2", max_workers=1), borrower)
    state = cluster(*jobs, nodes=(2,), quotas={"vision": (2, None), "language": (1, None)})
    keeps_its_own = tuple(
        replace(quota, lending_limit_gpus=0) if quota.team == "language" else quota
        for quota in state.quotas
    )
    state = replace(state, quotas=keeps_its_own)
    after, first = next_tick(state)
    assert "b" in first
    assert next_tick(after)[1] == {}


def test_no_job_holds_gpus_it_cannot_use_to_make_up_its_teams_share() -> None:
    """The team's share is eight GPUs, which comes out even only if the slow job has two."""
    slow = running("slow", 3, "speech", max_workers=3, measurements=SLOWS_DOWN)
    odd = {"max_workers": 5, "allowed_workers": (1, 3, 5), "measurements": SCALES_WELL}
    jobs = (
        slow,
        waiting("pair", "speech", min_workers=2, allowed_workers=(2,)),
        waiting("one", "speech", **odd),
        waiting("two", "speech", **odd),
    )
    state = cluster(*jobs, nodes=(4, 5), quotas={"vision": (2, None)})
    state = with_rules(state, ReclaimRules(target=ReclaimTarget.FAIR_SHARE), 0.0)
    keeps_one = tuple(replace(quota, lending_limit_gpus=1) for quota in state.quotas)
    after, _ = next_tick(replace(state, quotas=keeps_one))
    held = {job.job_id: job.allocation.workers for job in after.jobs if job.allocation}
    assert held["slow"] == 1
    assert next_tick(after)[1] == {}


@MANY
@given(states(calm=True))
def test_with_a_fixed_set_of_jobs_the_plan_settles_within_three_ticks_and_stays(
    state: ClusterState,
) -> None:
    """Nothing at all changes any more, where a change costs nothing but its gain must be clear."""
    state = replace(state, jobs=tuple(replace(job, stall_seconds=0.0) for job in state.jobs))
    for tick in range(TICKS_TO_SETTLE + TICKS_TO_STAY):
        state, changed = next_tick(state)
        assert tick < TICKS_TO_SETTLE or changed == {}, tick


@SOME
@given(states(calm=True))
def test_a_young_job_that_first_had_to_earn_its_change_grows_once(state: ClusterState) -> None:
    """Otherwise the plan has settled, and nobody starts or is paused."""
    late = Counter[str]()
    for tick in range(TICKS_TO_SETTLE + 2 * TICKS_TO_STAY):
        state, changed = next_tick(state)
        if tick >= TICKS_TO_SETTLE:
            assert set(changed.values()) <= {Action.RESCALE}, tick
            late.update(changed.keys())
    assert max(late.values(), default=0) <= 1


@SOME
@given(
    states(calm=True),
    st.sampled_from((0.0, 7.0, 20.0)),
    st.sampled_from((0.0, 12.0, 20.0)),
    st.sampled_from(ReclaimTarget),
)
def test_where_claims_have_to_wait_the_plan_settles_three_ticks_after_the_last_wait(
    state: ClusterState, delay: float, min_runtime: float, target: ReclaimTarget
) -> None:
    """Whoever starts or is paused has to wait anew, which must come to an end."""
    rules = ReclaimRules(target=target, delay_seconds=delay, min_runtime_seconds=min_runtime)
    state = with_rules(state, rules, state.pools[0].usage_weight)
    state = replace(state, jobs=tuple(replace(job, stall_seconds=0.0) for job in state.jobs))
    ticks_since = 0
    for _ in range(40):
        ticks_since = 0 if _anybody_waits_by_rule(state, rules) else ticks_since + 1
        state, changed = next_tick(state)
        assert ticks_since <= TICKS_TO_SETTLE or changed == {}
        if ticks_since == TICKS_TO_SETTLE + TICKS_TO_STAY:
            return
    pytest.fail("in 200 seconds the plan has not come to rest")


def _anybody_waits_by_rule(state: ClusterState, rules: ReclaimRules) -> bool:
    return any(
        state.now - _since(job.waiting_since, job.submitted_at) < rules.delay_seconds
        if job.phase is JobPhase.WAITING
        else state.now - _since(job.running_since, job.started_at) < rules.min_runtime_seconds
        for job in state.jobs
    )


def _since(*times: float | None) -> float:
    return next(time for time in times if time is not None)


@SOME
@given(states(calm=True), st.floats(0.5, 4.0))
def test_usage_that_grows_and_fades_makes_nobody_take_turns(
    state: ClusterState, usage_weight: float
) -> None:
    """A tick counts for an hour: usage of those that run grows, and halves every four ticks."""
    state = with_rules(state, ReclaimRules(target=ReclaimTarget.FAIR_SHARE), usage_weight)
    moves = Counter[tuple[str, Action]]()
    for _ in range(16):
        state, changed = next_tick(state)
        moves.update((job, what) for job, what in changed.items() if what is not Action.RESCALE)
        held = Counter[str]()
        for job in state.jobs:
            held[job.team] += job.allocation.workers if job.allocation else 0
        used = tuple(
            replace(
                quota,
                decayed_gpu_seconds=quota.decayed_gpu_seconds * 0.5**0.25 + 3600 * held[quota.team],
            )
            for quota in state.quotas
        )
        state = replace(state, quotas=used)
    assert max(moves.values(), default=0) <= 1
