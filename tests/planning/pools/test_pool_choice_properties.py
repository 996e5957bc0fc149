"""What holds of jobs that may be in several pools, in any two pools whatever."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from autoscaler.planning.decisions.invariants import check
from autoscaler.planning.decisions.plan import Action
from autoscaler.planning.decisions.pool_moves import after_moves
from autoscaler.planning.planner import plan
from autoscaler.planning.snapshot.cluster_state import JobPhase, OtherPool
from tests.campaigns import examples
from tests.planning.plans.test_properties import beside
from tests.planning.random_states import states

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.cluster_state import ClusterState, PlannedJob


@st.composite
def choices(draw: st.DrawFn) -> ClusterState:
    """Two pools, and many of their waiting jobs may be in the other one as well."""
    state = beside(draw(states()), draw(states()))
    others = {"pool1": "pool2", "pool2": "pool1"}

    def free_to_go(job: PlannedJob) -> PlannedJob:
        if job.phase is not JobPhase.WAITING or draw(st.integers(0, 4)) == 0:
            return job
        scaling = job.scaling if draw(st.booleans()) else None
        other = OtherPool(name=others[job.pool], batch=job.batch, scaling=scaling)
        return replace(job, other_pools=(other,))

    prices = [draw(st.sampled_from((0.0, 1.0, 4.0))) for _ in state.pools]
    return replace(
        state,
        jobs=tuple(map(free_to_go, state.jobs)),
        pools=tuple(
            replace(pool, dollars_per_gpu_hour=price)
            for pool, price in zip(state.pools, prices, strict=True)
        ),
    )


@examples(150)
@given(choices())
def test_no_pool_is_over_its_capacity_and_no_job_in_two_pools(state: ClusterState) -> None:
    made = plan(state)
    assert check(state, made) == ()
    placed = after_moves(state, made)
    for job, one in zip(placed.jobs, made.decisions, strict=True):
        assert job.job_id == one.job_id
        if one.action is Action.START and one.allocation is not None:
            (pool,) = (pool for pool in placed.pools if pool.name == job.pool)
            names = {node.name for node in pool.nodes}
            assert {name for name, _ in one.allocation.workers_by_node} <= names


@examples(60)
@given(choices())
def test_the_same_state_has_the_same_plan(state: ClusterState) -> None:
    assert plan(state) == plan(state)


@examples(100)
@given(choices())
def test_nobody_goes_to_and_fro(state: ClusterState) -> None:
    """Where a plan has put them, the next plan of the same cluster leaves those that wait."""
    made = plan(state)
    placed = after_moves(state, made)
    again = {one.job_id: one for one in plan(placed).decisions}
    for one in made.decisions:
        if one.action is Action.WAIT:
            assert again[one.job_id].pool is None or again[one.job_id].action is Action.START


@examples(100)
@given(choices())
def test_who_has_no_choice_is_planned_as_if_nobody_had_one(state: ClusterState) -> None:
    """The plan is that of a cluster in which each job is in the one pool that was chosen."""
    made = plan(state)
    placed = after_moves(state, made)
    dropped = {one.job_id for one in made.decisions if one.action is Action.DROP}
    jobs = (
        replace(
            job,
            other_pools=(),
            may_be_dropped=not job.other_pools or job.job_id in dropped,
        )
        for job in placed.jobs
    )
    alone = replace(placed, jobs=tuple(jobs))
    unmoved = tuple(replace(one, pool=None) for one in made.decisions)
    assert plan(alone).decisions == unmoved
