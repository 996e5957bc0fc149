"""Is a job whose data make planning endless left out like one whose data make it fail?"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace

import pytest

from autoscaler.control_loop.plan.deciding import PlanningTime, decide
from autoscaler.control_loop.plan.processor_time import ProcessorTime, TakesTooLong, within
from autoscaler.planning import planner
from autoscaler.planning.decisions.invariants import check
from autoscaler.planning.decisions.plan import Action, Plan
from autoscaler.planning.snapshot.cluster_state import ClusterState, JobPhase, TeamQuota
from tests.planning.builders import cluster, measured, running, waiting

ENOUGH = 5.0  # seconds; planning these few jobs takes a hundredth
SHORT = PlanningTime(whole=0.5, part=0.5, together=60.0)


def endless() -> None:
    while True:
        pass


@dataclass
class Sluggish:
    """The real planner, which never ends if it has to look into one of these jobs."""

    heavy: frozenset[str]
    plans: list[int] = field(default_factory=list)

    def __call__(self, state: ClusterState) -> Plan:
        self.plans.append(len(state.jobs))
        if any(job.job_id in self.heavy and job.phase is JobPhase.WAITING for job in state.jobs):
            endless()
        return planner.plan(state)


def of_pool(name: str, state: ClusterState) -> ClusterState:
    return replace(
        state,
        pools=tuple(replace(pool, name=name) for pool in state.pools),
        quotas=tuple(replace(quota, pool=name) for quota in state.quotas),
        jobs=tuple(replace(job, pool=name) for job in state.jobs),
    )


def test_a_job_that_makes_planning_endless_is_left_out_and_the_others_are_planned() -> None:
    state = cluster(waiting("heavy"), waiting("light", "language"))
    decided = decide(state, Sluggish(frozenset({"heavy"})), check, SHORT)
    assert {one.job_id: one.action for one in decided.plan.decisions} == {"light": Action.START}
    assert [type(error) for error in decided.failing.values()] == [TakesTooLong]
    assert (list(decided.failing), decided.unplanned, decided.alarm) == (["heavy"], {}, "")


def test_all_attempts_together_take_a_bounded_time() -> None:
    """What is left of another pool waits for the next tick, and none of its jobs is to blame."""
    ours = of_pool("ours", cluster(waiting("heavy")))
    theirs = of_pool("theirs", cluster(waiting("light")))
    both = replace(ours, pools=ours.pools + theirs.pools, jobs=ours.jobs + theirs.jobs)
    decided = decide(both, Sluggish(frozenset({"heavy"})), check, replace(SHORT, together=0.6))
    assert "theirs" in decided.unplanned
    assert "light" not in decided.failing
    assert decided.plan.decisions == ()


def test_pools_that_are_planned_apart_count_what_users_are_given_in_the_others() -> None:
    limited = TeamQuota(team="vision", pool="default", guaranteed_gpus=0, user_limit_gpus=4)
    fast = measured((1, 100.0), (2, 200.0), (4, 400.0))
    job = running("ours", 1, user="ann", measurements=fast)
    state = replace(cluster(job, nodes=(8,)), quotas=(limited,))
    ours, theirs = of_pool("ours", state), of_pool("theirs", state)
    others = tuple(replace(job, job_id="theirs") for job in theirs.jobs)
    both = replace(
        ours,
        pools=ours.pools + theirs.pools,
        quotas=ours.quotas + theirs.quotas,
        jobs=ours.jobs + others,
    )

    def of_one(some: ClusterState) -> Plan:
        assert len(some.pools) == 1
        return planner.plan(some)

    decided = decide(both, of_one, check)
    given = {one.job_id: one.allocation for one in decided.plan.decisions}
    assert {job: way.workers for job, way in given.items() if way} == {"ours": 3, "theirs": 1}
    assert (decided.alarm, decided.unplanned) == ("", {})


def test_nothing_is_computed_when_no_time_is_left() -> None:
    time = ProcessorTime(seconds=0.2)
    with pytest.raises(TakesTooLong):
        time.bound(endless, at_most=ENOUGH)
    with pytest.raises(TakesTooLong, match="left"):
        time.bound(lambda: 1, at_most=ENOUGH)


def test_who_keeps_the_interruption_to_himself_is_interrupted_again() -> None:
    kept = []

    def stubborn() -> None:
        try:
            endless()
        except TakesTooLong as problem:
            kept.append(problem)
        endless()

    with pytest.raises(TakesTooLong):
        within(0.1, stubborn)
    assert len(kept) == 1


def test_what_ends_in_time_is_not_touched_then_or_later() -> None:
    assert within(ENOUGH, lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        within(ENOUGH, lambda: 1 // 0)


def test_in_another_thread_nothing_is_bounded() -> None:
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(within(ENOUGH, lambda: 7)))
    thread.start()
    thread.join()
    assert found == [7]
