"""Does the one change that a waiting job is told of really start it?"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from autoscaler.planning.cluster_state import Node, Preemptibility, TeamQuota
from autoscaler.planning.decisions import Action
from autoscaler.planning.explanations.rendering import render
from autoscaler.planning.explanations.remedy_search import RemedySearch
from autoscaler.planning.explanations.values import Refused, Remedy, RemedyKind, Waiting
from autoscaler.planning.planner import plan
from tests.planning.builders import cluster, explained, running, waiting
from tests.planning.random_states import states

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autoscaler.planning.cluster_state import ClusterState, Job
    from autoscaler.planning.decisions import Plan


def test_every_change_that_a_waiting_job_is_told_of_starts_it() -> None:
    told: Counter[RemedyKind] = Counter()

    @settings(max_examples=150, deadline=None, derandomize=True, phases=[Phase.generate])
    @given(st.one_of(states(calm=True), states()), st.booleans())
    def look_at(state: ClusterState, has_second_pool: bool) -> None:  # noqa: FBT001 - drawn
        if has_second_pool:
            state = with_an_empty_pool(state)
        for job_id, remedy in _remedies(state):
            changed = plan(with_remedy(state, job_id, remedy))
            assert action_of(job_id, changed) is Action.START, remedy
            told[remedy.kind] += 1

    look_at()
    assert set(told) == set(RemedyKind) - {RemedyKind.PATIENCE}, told


def test_a_job_that_no_change_starts_is_told_so() -> None:
    state = cluster(running("a", 1, min_workers=1, can_rescale=False), waiting("b"), nodes=(1,))
    closed = replace(state.pools[0], nodes=(replace(state.pools[0].nodes[0], gpus=1),))
    state = replace(state, pools=(closed,), quotas=())
    search = RemedySearch(state=state, planner=plan)
    value = search.examined("b", plan(state).explanations["b"])
    assert isinstance(value, Waiting)
    without = replace(value, remedy=None)
    assert value.is_examined
    assert "No single change" in render(without)


def test_remedies_cost_no_more_than_the_budget() -> None:
    """Whoever asks beyond it is told nothing."""
    plans = 0

    def counted(state: ClusterState) -> Plan:
        nonlocal plans
        plans += 1
        return plan(state)

    jobs = [waiting(f"w{n}", min_workers=4 + n) for n in range(10)]
    state = cluster(running("a", 4, can_rescale=False), *jobs, nodes=(20,), quotas={})
    state = replace(state, pools=(replace(state.pools[0], nodes=(Node(name="n1", gpus=4),)),))
    search = RemedySearch(state=state, planner=counted, planned_jobs=100)
    found = {job: search.examined(job, one) for job, one in plan(state).explanations.items()}
    assert 1 <= plans <= 100 // (len(jobs) + 1)
    assert search.planned_jobs >= 0
    assert any(isinstance(one, Waiting) and not one.is_examined for one in found.values())


def test_what_a_refused_job_is_told_to_change_makes_it_possible() -> None:
    state = cluster(waiting("a", min_workers=6, max_workers=8), quotas={"vision": (0, 3)})
    value = plan(state).explanations["a"]
    assert isinstance(value, Refused)
    assert value.remedy is not None
    changed = plan(with_remedy(state, "a", value.remedy))
    assert action_of("a", changed) is Action.START


def _remedies(state: ClusterState) -> Iterator[tuple[str, Remedy]]:
    for job_id, explanation in explained(state).items():
        remedy = explanation.remedy if isinstance(explanation, Waiting) else None
        if remedy is not None and remedy.kind is not RemedyKind.PATIENCE:
            yield job_id, remedy


def action_of(job_id: str, result: Plan) -> Action:
    return next(one for one in result.decisions if one.job_id == job_id).action


def with_an_empty_pool(state: ClusterState) -> ClusterState:
    spare = replace(state.pools[0], name="spare", nodes=(Node(name="s1", gpus=4),))
    return replace(state, pools=(*state.pools, spare))


def with_remedy(state: ClusterState, job_id: str, remedy: Remedy) -> ClusterState:
    """The same cluster, with that one change made: the test's own idea of it."""
    match remedy.kind:
        case RemedyKind.HIGHER_PRIORITY:
            return with_job(state, job_id, priority=remedy.priority)
        case RemedyKind.FEWER_GPUS_PER_WORKER:
            return with_job(state, job_id, gpus_per_worker=remedy.gpus)
        case RemedyKind.OTHER_POOL:
            return with_job(state, job_id, pool=remedy.pool)
        case RemedyKind.RAISED_GUARANTEE:
            team = next(job.team for job in state.jobs if job.job_id == job_id)
            quota = next(
                (one for one in state.quotas if one.team == team),
                TeamQuota(team=team, pool="default", guaranteed_gpus=0),
            )
            raised = replace(quota, guaranteed_gpus=remedy.gpus or 0)
            return replace(
                state, quotas=(*(one for one in state.quotas if one.team != team), raised)
            )
        case RemedyKind.FREE_GPUS | RemedyKind.GPUS_TOGETHER:
            pool = state.pools[0]
            node = Node(name="new", gpus=remedy.gpus or 0)
            larger = replace(pool, nodes=(*pool.nodes, node))
            return replace(state, pools=(larger, *state.pools[1:]))
        case RemedyKind.RAISED_LIMIT:
            team = next(job.team for job in state.jobs if job.job_id == job_id)
            quotas = tuple(
                replace(quota, limit_gpus=remedy.gpus) if quota.team == team else quota
                for quota in state.quotas
            )
            return replace(state, quotas=quotas)
        case RemedyKind.FEWER_WORKERS:
            return with_job(state, job_id, min_workers=remedy.workers)
        case RemedyKind.PREEMPTIBLE:
            return with_job(state, job_id, preemptibility=Preemptibility.PREEMPTIBLE)
        case RemedyKind.PATIENCE:
            return state


def with_job(state: ClusterState, job_id: str, **changes: object) -> ClusterState:
    def changed(job: Job) -> Job:
        return replace(job, **changes) if job.job_id == job_id else job  # type: ignore[arg-type]

    return replace(state, jobs=tuple(map(changed, state.jobs)))
