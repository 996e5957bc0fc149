"""Does the one change that a waiting job is told of really start it?"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import Phase, given, settings

from autoscaler.planning.cluster_state import Node, Preemptibility
from autoscaler.planning.decisions import Action
from autoscaler.planning.explanations.values import Remedy, RemedyKind, Waiting
from autoscaler.planning.planner import plan
from tests.planning.random_states import states

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autoscaler.planning.cluster_state import ClusterState, Job


def test_the_change_that_a_waiting_job_is_told_of_starts_it_four_times_out_of_five() -> None:
    """Asked again with the change made, the planner may still find somebody who comes first."""
    outcomes: Counter[bool] = Counter()

    @settings(max_examples=100, deadline=None, derandomize=True, phases=[Phase.generate])
    @given(states(calm=True))
    def look_at(state: ClusterState) -> None:
        outcomes.update(_outcomes(state))

    look_at()
    assert outcomes[True] + outcomes[False] >= 10
    assert outcomes[True] >= 4 * outcomes[False]


def _outcomes(state: ClusterState) -> Iterator[bool]:
    for job_id, explanation in plan(state).explanations.items():
        remedy = explanation.remedy if isinstance(explanation, Waiting) else None
        if remedy is not None and remedy.kind is not RemedyKind.PATIENCE:
            changed = plan(with_remedy(state, job_id, remedy))
            yield next(d for d in changed.decisions if d.job_id == job_id).action is Action.START


def with_remedy(state: ClusterState, job_id: str, remedy: Remedy) -> ClusterState:
    """The same cluster, with that one change made."""
    match remedy.kind:
        case RemedyKind.FREE_GPUS | RemedyKind.GPUS_TOGETHER:
            pool = state.pools[0]
            node = Node(name="new", gpus=remedy.gpus or 0)
            return replace(state, pools=(replace(pool, nodes=(*pool.nodes, node)),))
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
