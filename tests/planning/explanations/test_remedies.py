"""Does the one change that a waiting job is told of really start it?"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from autoscaler.planning.decisions.explanation import Refused, Remedy, RemedyKind
from autoscaler.planning.decisions.plan import Action
from autoscaler.planning.explanations.remedy_search import RemedySearch
from autoscaler.planning.planner import plan
from autoscaler.planning.snapshot.cluster_state import PlannedNode, TeamQuota
from autoscaler.planning.snapshot.vocabulary import Preemptibility
from tests.planning.builders import cluster, remedies, running, said, waiting
from tests.planning.random_states import states

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autoscaler.planning.decisions.plan import Plan
    from autoscaler.planning.snapshot.cluster_state import ClusterState, PlannedJob, PlannedPool


def test_every_change_that_a_waiting_job_is_told_of_starts_it() -> None:
    told: Counter[RemedyKind] = Counter()

    @settings(max_examples=150, derandomize=True, phases=[Phase.generate])
    @given(st.one_of(states(calm=True), states()), st.booleans())
    def look_at(state: ClusterState, has_second_pool: bool) -> None:  # noqa: FBT001 - drawn
        if has_second_pool:
            state = with_an_empty_pool(state)
        for job_id, remedy in told_in(state):
            changed = plan(with_remedy(state, job_id, remedy))
            assert action_of(job_id, changed) is Action.START, remedy
            told[remedy.kind] += 1

    look_at()
    assert told.total() >= 20  # what is drawn depends on which modules are loaded
    assert len(told) >= 3


def test_a_change_that_pauses_nobody_is_told_before_one_that_does() -> None:
    """A GPU is free, and only the team's limit keeps the job from it."""
    holder = running("a", 4, min_workers=4)
    state = cluster(holder, waiting("b", priority=10), quotas={"vision": (4, 4)}, nodes=(5,))
    (remedy,) = remedies(state)["b"]
    assert (remedy.kind, remedy.gpus, remedy.paused_jobs) == (RemedyKind.RAISED_LIMIT, 5, 0)


def test_a_change_that_pauses_a_running_job_says_so() -> None:
    """Two GPUs are free, but vision never lends them."""
    borrower = running("a", 2, "speech", min_workers=2)
    state = cluster(borrower, waiting("b", "language"), quotas={"vision": (2, None)})
    state = replace(state, quotas=(replace(state.quotas[0], lending_limit_gpus=0),))
    (remedy,) = remedies(state)["b"]
    assert (remedy.kind, remedy.gpus, remedy.paused_jobs) == (RemedyKind.RAISED_GUARANTEE, 1, 1)
    assert said(state)["b"].endswith(
        "With a guarantee of 1 GPU for team language it would start now, and 1 running job would "
        "be paused for it."
    )


def test_a_job_that_no_change_starts_is_told_so() -> None:
    """More GPUs for its team do not help where all of them are another team's."""
    state = cluster(
        running("a", 2, "language", min_workers=2, can_rescale=False),
        running("v", 2, min_workers=2, can_rescale=False),
        waiting("b", max_workers=1),
        quotas={"vision": (0, 2), "language": (2, None)},
    )
    assert said(state)["b"].endswith(
        "No single change of the job or of its team's quota would start it now."
    )


def test_remedies_cost_no_more_than_the_budget() -> None:
    """Whoever asks beyond it is told nothing."""
    plans = 0

    def counted(state: ClusterState) -> Plan:
        nonlocal plans
        plans += 1
        return plan(state)

    jobs = [waiting(f"w{n}", min_workers=4 + n, max_workers=16) for n in range(10)]
    state = cluster(running("a", 14, can_rescale=False), *jobs, nodes=(16,), quotas={})
    search = RemedySearch(state=state, planned=plan(state), planner=counted, planned_jobs=150)
    found = [search.remedy_for(job.job_id) for job in jobs]
    assert 1 <= plans <= 150 // (len(jobs) + 1)
    assert search.planned_jobs >= 0
    assert found[0] is not None
    assert found[-1] is None


def test_what_a_refused_job_is_told_to_change_makes_it_possible() -> None:
    state = cluster(waiting("a", min_workers=6, max_workers=8), quotas={"vision": (0, 3)})
    value = plan(state).explanations["a"]
    assert isinstance(value, Refused)
    assert value.remedy is not None
    changed = plan(with_remedy(state, "a", value.remedy))
    assert action_of("a", changed) is Action.START


def told_in(state: ClusterState) -> Iterator[tuple[str, Remedy]]:
    """All that name a change."""
    for job_id, found in remedies(state).items():
        for remedy in found:
            if remedy.kind not in {RemedyKind.PATIENCE, RemedyKind.NONE}:
                yield job_id, remedy


def action_of(job_id: str, result: Plan) -> Action:
    return next(one for one in result.decisions if one.job_id == job_id).action


def with_an_empty_pool(state: ClusterState) -> ClusterState:
    spare = replace(state.pools[0], name="spare", nodes=(PlannedNode(name="s1", gpus=4),))
    return replace(state, pools=(*state.pools, spare))


def with_remedy(  # noqa: PLR0911 - one for each remedy
    state: ClusterState, job_id: str, remedy: Remedy
) -> ClusterState:
    """The same cluster, with that one change made: the test's own idea of it."""
    match remedy.kind:
        case RemedyKind.HIGHER_PRIORITY:
            return with_job(state, job_id, priority=remedy.priority)
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
            node = PlannedNode(name="new", gpus=remedy.gpus or 0)
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
        case RemedyKind.REOPENED_NODE:
            return replace(state, pools=tuple(with_open(pool, remedy.node) for pool in state.pools))
        case RemedyKind.PATIENCE | RemedyKind.NONE:
            return state


def with_open(pool: PlannedPool, name: str | None) -> PlannedPool:
    def opened(node: PlannedNode) -> PlannedNode:
        is_meant = node.name == name
        return replace(node, is_schedulable=True, is_draining=False) if is_meant else node

    return replace(pool, nodes=tuple(map(opened, pool.nodes)))


def with_job(state: ClusterState, job_id: str, **changes: object) -> ClusterState:
    def changed(job: PlannedJob) -> PlannedJob:
        return replace(job, **changes) if job.job_id == job_id else job  # type: ignore[arg-type]

    return replace(state, jobs=tuple(map(changed, state.jobs)))
