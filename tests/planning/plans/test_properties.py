"""What holds for any cluster whatever, found by trying very many."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.decisions.invariants import check
from autoscaler.planning.decisions.plan import Action
from autoscaler.planning.planner import plan
from autoscaler.planning.snapshot.cluster_state import PlannedNode, TeamQuota
from tests.campaigns import examples
from tests.planning.builders import applied, cluster, learned, measured, running
from tests.planning.random_states import states

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autoscaler.planning.snapshot.cluster_state import ClusterState, PlannedJob, StepTime

MANY = examples(150)
SOME = examples(60)


@MANY
@given(states())
def test_no_plan_breaks_an_invariant(state: ClusterState) -> None:
    assert check(state, plan(state)) == ()


@examples(150)
@given(states(), states())
def test_nor_does_one_where_the_same_users_have_jobs_in_two_pools(
    first: ClusterState, second: ClusterState
) -> None:
    state = beside(first, second)
    assert check(state, plan(state)) == ()


def beside(first: ClusterState, second: ClusterState) -> ClusterState:
    """Both pools in one state; limits of users hold in all pools."""
    limits = {quota.team: quota.user_limit_gpus for quota in (*first.quotas, *second.quotas)}
    settings = {(quota.team, 1): quota for quota in first.quotas}
    settings |= {(quota.team, 2): quota for quota in second.quotas}
    nothing = TeamQuota(team="", pool="", guaranteed_gpus=0)
    quotas = [
        replace(
            settings.get((team, number), nothing),
            team=team,
            pool=f"pool{number}",
            user_limit_gpus=most,
        )
        for team, most in limits.items()
        for number in (1, 2)
    ]
    pools = [
        replace(state.pools[0], name=f"pool{number}")
        for number, state in enumerate((first, second), 1)
    ]
    jobs = [
        replace(job, pool=f"pool{number}", job_id=f"{job.job_id}-{number}")
        for number, state in enumerate((first, second), 1)
        for job in state.jobs
    ]
    return replace(first, pools=tuple(pools), quotas=tuple(quotas), jobs=tuple(jobs))


@examples(300)
@given(states())
def test_no_node_is_called_lost_while_all_are_there(state: ClusterState) -> None:
    """Unless the job itself lost workers: nobody else takes them below its smallest size."""
    (pool,) = state.pools
    nodes = tuple(replace(node, is_schedulable=True) for node in pool.nodes)
    state = replace(state, pools=(replace(pool, nodes=nodes),))
    smallest = {job.job_id: job.min_workers for job in state.jobs}
    for one in plan(state).decisions:
        held = one.previous.workers if one.previous else 0
        assert one.reason is not JobReason.NODE_LOST or held < smallest[one.job_id]


@SOME
@given(states())
def test_every_job_is_decided_on_once_and_every_pool_exactly(state: ClusterState) -> None:
    result = plan(state)
    assert [d.job_id for d in result.decisions] == [job.job_id for job in state.jobs]
    assert all(pool.gap == 0 for pool in result.pools)


@SOME
@given(states(), st.randoms(use_true_random=False))
def test_the_order_of_the_jobs_does_not_matter(state: ClusterState, rng: random.Random) -> None:
    shuffled = list(state.jobs)
    rng.shuffle(shuffled)
    again = plan(replace(state, jobs=tuple(shuffled)))
    first = {d.job_id: (d.action, d.allocation) for d in plan(state).decisions}
    assert {d.job_id: (d.action, d.allocation) for d in again.decisions} == first


@MANY
@given(states(calm=True))
def test_a_plan_applied_twice_changes_nothing(state: ClusterState) -> None:
    after = applied(state, plan(state))
    second = plan(after)
    changes = {d.job_id: d.action for d in second.decisions if d.allocation != d.previous}
    assert changes == {}


@SOME
@given(states())
def test_plans_settle_even_while_batches_grow(state: ClusterState) -> None:
    for _ in range(8):
        result = plan(state)
        if all(d.action in {Action.KEEP, Action.WAIT} for d in result.decisions):
            return
        state = applied(state, result)
    pytest.fail("eight plans in a row changed something")


@SOME
@given(states(calm=True))
def test_more_gpus_never_lower_the_optimum(state: ClusterState) -> None:
    """For the same running jobs: more room may also admit jobs, which then share it."""
    jobs = tuple(job for job in state.jobs if job.allocation is not None)
    state = replace(state, jobs=jobs, quotas=())
    pool = state.pools[0]
    larger = replace(pool, nodes=(*pool.nodes, PlannedNode(name="extra", gpus=max_node(state))))
    before = plan(state).pools[0]
    after = plan(replace(state, pools=(larger,))).pools[0]
    assert after.value >= before.value - 1e-9


def max_node(state: ClusterState) -> int:
    return max(node.gpus for node in state.pools[0].nodes)


def noisy(
    job: PlannedJob, measurements: Sequence[StepTime], rng: random.Random, noise: float
) -> PlannedJob:
    """The job as known from the same measurements, taken once more."""
    again = [
        replace(m, step_seconds=m.step_seconds * rng.uniform(1 - noise, 1 + noise))
        for m in measurements
    ]
    return learned(job, again)


@pytest.mark.parametrize("noise", [0.05, 0.10])
@pytest.mark.parametrize("seed", range(4))
def test_noise_does_not_move_gpus_to_and_fro(noise: float, seed: int) -> None:
    """Twenty ticks with newly measured speeds: after settling in, nobody is changed again."""
    rng = random.Random(seed)  # noqa: S311 - noise, not secrets
    curves = {
        "good": measured((1, 100), (2, 190), (3, 270), (4, 350)),
        "fair": measured((1, 100), (2, 160), (3, 200), (4, 220)),
        "poor": measured((1, 100), (2, 112), (3, 115), (4, 110)),
    }
    jobs = [
        running("a", 1, "vision", on=(("n1", 1),)),
        running("b", 1, "language", on=(("n1", 1),)),
        running("c", 1, "language", on=(("n2", 1),)),
        running("d", 1, "vision", on=(("n2", 1),)),
    ]
    measurements = [curves[name] for name in ("good", "fair", "poor", "good")]
    state = cluster(*jobs, nodes=(4, 4), quotas={"vision": (4, None), "language": (4, None)})
    late_changes = 0
    for tick in range(20):
        seen = replace(
            state,
            jobs=tuple(
                noisy(job, rates, rng, noise)
                for job, rates in zip(state.jobs, measurements, strict=True)
            ),
        )
        result = plan(seen)
        if tick >= 4:
            late_changes += sum(d.action is Action.RESCALE for d in result.decisions)
        state = applied(seen, result)
    assert late_changes == 0
