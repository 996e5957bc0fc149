"""What may one user's jobs of a team hold together, and what is said of those that wait for it?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from autoscaler.planning.decisions.invariants import check
from autoscaler.planning.planner import plan
from autoscaler.planning.snapshot.cluster_state import (
    PlannedNode,
    PlannedPool,
    ReclaimRules,
    TeamQuota,
)
from autoscaler.planning.snapshot.vocabulary import ReclaimTarget
from tests.planning.builders import applied, cluster, measured, running, said, summary, waiting

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.cluster_state import ClusterState, PlannedJob

LINEAR = measured((1, 100.0), (2, 200.0), (4, 400.0), (8, 800.0))


def limited(
    *jobs: PlannedJob, most: int | None = 4, gpus: int = 8, guaranteed: int = 0, **more: Any
) -> ClusterState:
    """A pool of one node, in which each user of team vision may hold `most` GPUs."""
    vision = TeamQuota(
        team="vision", pool="default", guaranteed_gpus=guaranteed, user_limit_gpus=most, **more
    )
    language = TeamQuota(team="language", pool="default", guaranteed_gpus=0)
    return replace(cluster(*jobs, nodes=(gpus,), quotas={}), quotas=(vision, language))


def grown(name: str, workers: int, user: str = "ann", **more: Any) -> PlannedJob:
    values = {"max_workers": 8, "measurements": LINEAR, "user": user, **more}
    return running(name, workers, **values)


STATES: dict[str, tuple[ClusterState, dict[str, str]]] = {
    "a job grows up to the limit, though more is free": (
        limited(grown("a", 2)),
        {"a": "rescale 4"},
    ),
    "a limit that nobody can reach costs nothing": (
        limited(grown("a", 2), grown("b", 2), most=10**12),
        {"a": "rescale 4", "b": "rescale 4"},
    ),
    "without a limit it takes all": (limited(grown("a", 2), most=None), {"a": "rescale 8"}),
    "two jobs of one user have it together": (
        limited(grown("a", 2), grown("b", 2)),
        {"a": "keep 2", "b": "keep 2"},
    ),
    "what another user has counts apart": (
        limited(grown("a", 2), grown("b", 2, user="bob")),
        {"a": "rescale 4", "b": "rescale 4"},
    ),
    "jobs of whom nobody knows have no limit": (
        limited(grown("a", 4, user=""), grown("b", 4, user="")),
        {"a": "keep 4", "b": "keep 4"},
    ),
    "in another team the same user has none": (
        limited(grown("a", 4), grown("b", 3, team="language")),
        {"a": "keep 4", "b": "rescale 4"},
    ),
    "a job that starts makes the user's own give way": (
        limited(grown("a", 4), waiting("b", min_workers=2, user="ann")),
        {"a": "rescale 2", "b": "start 2"},
    ),
    "one that does not fit beside the smallest sizes waits": (
        limited(grown("a", 4, min_workers=3), waiting("b", min_workers=2, user="ann")),
        {"a": "keep 4", "b": "wait"},
    ),
    "it keeps nobody else of its team waiting": (
        limited(
            grown("a", 4, min_workers=4),
            waiting("b", min_workers=2, user="ann", priority=90),
            waiting("c", min_workers=2, user="bob"),
            guaranteed=8,
        ),
        {"a": "keep 4", "b": "wait", "c": "start 2"},
    ),
    "nor does it keep GPUs idle that others may borrow": (
        limited(
            grown("a", 4, min_workers=4),
            waiting("b", min_workers=2, user="ann"),
            waiting("c", "language", min_workers=4, user="cleo"),
            guaranteed=8,
        ),
        {"a": "keep 4", "b": "wait", "c": "start 4"},
    ),
    "a lowered limit shrinks": (limited(grown("a", 4), grown("b", 4)), {"a": "", "b": ""}),
    "it pauses nobody: at their smallest sizes jobs stay": (
        limited(grown("a", 3, min_workers=3), grown("b", 4, min_workers=3)),
        {"a": "keep 3", "b": "rescale 3"},
    ),
    "a job that was changed a moment ago gives way too": (
        limited(
            grown("a", 4, last_rescaled_at=9_990.0, min_interval_seconds=60.0),
            waiting("b", min_workers=2, user="ann"),
        ),
        {"a": "rescale 2", "b": "start 2"},
    ),
    "one whose smallest size is more can never start": (
        limited(waiting("b", min_workers=5, max_workers=8, user="ann")),
        {"b": "wait"},
    ),
}


@pytest.mark.parametrize("sentence", STATES)
@pytest.mark.parametrize("target", ReclaimTarget)
def test_what_users_have_together(sentence: str, target: ReclaimTarget) -> None:
    state, expected = STATES[sentence]
    state = replace(state, pools=(replace(state.pools[0], reclaim=ReclaimRules(target=target)),))
    planned = plan(state)
    assert check(state, planned) == ()
    if any(expected.values()):
        assert summary(planned) == expected
    held = {job.job_id: job.user for job in state.jobs if job.team == "vision" and job.user}
    used: dict[str, int] = dict.fromkeys(held.values(), 0)
    smallest = dict(used)
    for job, decision in zip(state.jobs, planned.decisions, strict=True):
        if job.job_id in held and decision.allocation:
            used[job.user] += decision.allocation.workers
            smallest[job.user] += job.min_workers
    most = state.quotas[0].user_limit_gpus
    assert all(most is None or used[user] <= max(most, smallest[user]) for user in used)
    after = applied(state, planned)
    assert all(d.action.value in {"keep", "wait"} for d in plan(after).decisions)


def other_pool(state: ClusterState, *jobs: PlannedJob) -> ClusterState:
    """The same with a pool that is planned after the first."""
    pool = PlannedPool(name="other", nodes=(PlannedNode(name="o1", gpus=8),))
    quotas = [*state.quotas, *(replace(quota, pool="other") for quota in state.quotas)]
    moved = [replace(job, pool="other") for job in jobs]
    return replace(
        state,
        pools=(*state.pools, pool),
        quotas=tuple(quotas),
        jobs=(*state.jobs, *moved),
    )


def test_pools_count_together() -> None:
    first, second = grown("a", 2), grown("b", 1, on=(("o1", 1),))
    assert summary(plan(other_pool(limited(first), second))) == {
        "a": "rescale 3",
        "b": "keep 1",
    }


def test_of_several_pools_the_first_gives_way_first_where_the_limit_was_lowered() -> None:
    first, second = grown("a", 4), grown("b", 4, on=(("o1", 4),))
    assert summary(plan(other_pool(limited(first), second))) == {
        "a": "rescale 1",
        "b": "rescale 3",
    }


def test_a_guarantee_of_its_team_starts_no_job_of_a_user_who_has_all_of_it_in_another_pool() -> (
    None
):
    state = other_pool(
        limited(grown("a", 4), guaranteed=4),
        waiting("b", min_workers=2, user="ann"),
        waiting("c", min_workers=2, user="bob"),
    )
    planned = plan(state)
    assert summary(planned) == {"a": "keep 4", "b": "wait", "c": "start 2"}
    assert check(state, planned) == ()


def test_what_a_job_gets_back_that_has_lost_workers_is_not_given_away_in_another_pool() -> None:
    lost = grown("b", 1, min_workers=3, on=(("o1", 1),))
    state = other_pool(limited(grown("a", 1)), lost)
    planned = plan(state)
    assert summary(planned) == {"a": "keep 1", "b": "rescale 3"}
    assert check(state, planned) == ()


def test_a_job_in_another_pool_waits_for_what_the_user_holds_here() -> None:
    state = other_pool(limited(grown("a", 4)), waiting("b", min_workers=2, user="ann"))
    assert said(state)["b"].startswith(
        "Waits for 2 GPUs: whoever submitted it uses 4 of at most 4 GPUs in team vision"
        " (max_gpus_per_user), 4 of them in other pools."
    )


def test_why_a_job_waits_grows_no_further_or_shrinks_is_said_in_numbers() -> None:
    state = limited(grown("a", 4, min_workers=3), waiting("b", min_workers=2, user="ann"))
    told = said(state)
    assert told["a"] == (
        "Keeps 4 workers: whoever submitted it uses 4 of at most 4 GPUs in team vision"
        " (max_gpus_per_user)."
    )
    assert told["b"] == (
        "Waits for 2 GPUs: whoever submitted it uses 4 of at most 4 GPUs in team vision"
        " (max_gpus_per_user). With min_workers 1 it would start now."
    )
    fixed = limited(grown("a", 4, min_workers=4), waiting("b", min_workers=2, user="ann"), gpus=16)
    assert said(fixed)["b"].endswith(
        "With a limit of 6 GPUs for each user of team vision (max_gpus_per_user) it would"
        " start now."
    )
    lowered = limited(grown("a", 8))
    assert said(lowered)["a"] == (
        "Shrunk from 8 to 4 workers: whoever submitted it uses 8 of at most 4 GPUs in team vision"
        " (max_gpus_per_user)."
    )


def test_a_limit_of_its_team_is_named_where_it_is_that_one_which_keeps_a_job_waiting() -> None:
    others = grown("a", 4), grown("c", 2, user="bob", min_workers=2, max_workers=2)
    wants = waiting("b", min_workers=4, max_workers=8, user="ann")
    of_team = limited(*others, wants, most=6, limit_gpus=6)
    assert said(of_team)["b"].startswith(
        "Waits for 4 GPUs: team vision uses 6 of its limit of 6 GPUs."
    )


def test_a_job_that_can_never_start_says_what_to_change() -> None:
    state = limited(waiting("b", min_workers=5, max_workers=8, user="ann"))
    assert said(state)["b"] == (
        "Cannot start: its smallest size needs 5 GPUs, the limit of one person or token in team"
        " vision (max_gpus_per_user) is 4. Lower min_workers to 4, or have the limit raised to 5."
    )
