"""Is what the planner says of a change true, in any cluster whatever?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.decisions.explanation import Paused
from autoscaler.planning.decisions.plan import Action
from autoscaler.planning.explanations.sentences.rendering import render
from autoscaler.planning.planner import plan
from autoscaler.planning.snapshot.cluster_state import (
    ChangeKind,
    PoolChange,
    ReclaimRules,
    TeamQuota,
)
from autoscaler.planning.snapshot.vocabulary import ReclaimTarget
from tests.campaigns import examples
from tests.planning.builders import cluster, running, said, summary, waiting
from tests.planning.random_states import states

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autoscaler.planning.snapshot.cluster_state import ClusterState, PlannedJob

MANY = examples(200)

OTHER_CHANGES = st.lists(
    st.sampled_from(
        (
            PoolChange(kind=ChangeKind.NODE_JOINED, pool="default", name="n1"),
            PoolChange(kind=ChangeKind.NODE_LOST, pool="default", name="n9"),
            PoolChange(kind=ChangeKind.WORKER_LOST, pool="default", name="j0"),
            PoolChange(kind=ChangeKind.JOB_FINISHED, pool="elsewhere", name="old"),
        )
    ),
    max_size=2,
)


@MANY
@given(states(), OTHER_CHANGES, st.sampled_from(("static", "fixed_batch")))
def test_no_job_is_said_to_have_finished_while_none_has(
    state: ClusterState, changes: list[PoolChange], policy: str
) -> None:
    state = replace(with_pool(state, policy=policy), changes=tuple(changes))
    decisions = plan(state).decisions
    assert JobReason.JOB_FINISHED not in {decision.reason for decision in decisions}


@MANY
@given(states(), st.sampled_from(ReclaimTarget))
def test_whoever_is_paused_gives_way_to_somebody_with_a_better_claim(
    state: ClusterState, target: ReclaimTarget
) -> None:
    """Of another team, to something; or of its own team, by priority."""
    state = with_pool(state, reclaim=ReclaimRules(target=target))
    jobs = {job.job_id: job for job in state.jobs}
    for job_id, explanation in plan(state).explanations.items():
        assert "owed 0 of" not in render(explanation)
        if isinstance(explanation, Paused):
            assert_claim_is_better(explanation, jobs[job_id], jobs)


def assert_claim_is_better(paused: Paused, job: PlannedJob, jobs: Mapping[str, PlannedJob]) -> None:
    takers = [jobs[taker.job_id or ""] for taker in paused.takers.named]
    if paused.owed is not None:
        assert "claim to 0" not in render(paused)
        assert paused.owed.team != job.team
        assert {taker.team for taker in paused.owed.jobs.named} == {paused.owed.team}
    if paused.reason is JobReason.BEHIND_HIGHER_PRIORITY:
        assert {taker.team for taker in takers} == {job.team}
        assert all(taker.priority > job.priority for taker in takers)


def test_a_job_within_the_guarantee_is_paused_for_a_higher_priority_of_its_team() -> None:
    state = cluster(
        running("a", 2, min_workers=2, priority=10),
        running("b", 2, "language", min_workers=2),
        waiting("c", min_workers=2, priority=90),
    )
    assert reasons(state)["a"] is JobReason.BEHIND_HIGHER_PRIORITY
    words = "Paused after a checkpoint: room for c of its team, whose priority is higher."
    assert said(state)["a"] == words
    assert said(state, to="vision")["a"] == words


def test_a_job_is_told_of_the_higher_priority_even_while_another_team_is_owed_gpus() -> None:
    """Its team holds no more than its guarantee: it owes the other team nothing."""
    state = cluster(
        running("a", 2, min_workers=2, priority=10),
        waiting("b", "language", min_workers=2),
        waiting("c", min_workers=2, priority=90),
    )
    assert summary(plan(state)) == {"a": "pause", "b": "start 2", "c": "start 2"}
    assert reasons(state)["a"] is JobReason.BEHIND_HIGHER_PRIORITY


def test_a_borrower_is_told_of_the_fair_share_that_it_gives_way_to() -> None:
    state = sharing_fairly(running("a", 4, min_workers=4), waiting("b", "language", min_workers=2))
    assert reasons(state)["a"] is JobReason.FAIR_SHARE
    borrowed = "Paused after a checkpoint, giving back 4 GPUs it borrowed"
    assert said(state)["a"] == f"{borrowed}: team language has a claim to 2 GPUs, for b."
    to_vision = f"{borrowed}: team language has a claim to 2 GPUs, for one of its jobs."
    assert said(state, to="vision")["a"] == to_vision


def test_a_claim_to_what_a_parent_is_guaranteed_is_a_claim_to_a_guarantee() -> None:
    a, b = running("a", 4, min_workers=4), waiting("b", "language", min_workers=2)
    state = cluster(a, b, quotas={})
    research = TeamQuota(team="research", pool="default", guaranteed_gpus=2)
    language = TeamQuota(team="language", pool="default", guaranteed_gpus=0, parent="research")
    state = replace(state, quotas=(research, language))
    assert reasons(state)["a"] is JobReason.RECLAIM_GUARANTEE
    assert said(state)["a"] == (
        "Paused after a checkpoint, giving back 4 GPUs it borrowed: team language has a claim to "
        "2 GPUs, for b."
    )


def test_only_jobs_of_the_team_that_is_owed_gpus_are_said_to_take_them() -> None:
    state = cluster(
        running("a", 4, min_workers=4),
        waiting("b", "language", min_workers=2),
        waiting("c", "speech", min_workers=1),
        quotas={"language": (2, None), "speech": (1, None)},
    )
    assert said(state)["a"] == (
        "Paused after a checkpoint, giving back 4 GPUs it borrowed: team language is owed 2 of "
        "its 2 guaranteed GPUs for b."
    )


def test_a_job_that_its_policy_wants_larger_grows_for_no_other_cause() -> None:
    state = cluster(running("a", 2, rescales=3), policy="static", quotas={})
    assert reasons(state)["a"] is JobReason.BEST_ALLOCATION
    assert said(state)["a"] == (
        "Grown from 2 to 4 workers: 76 % faster, from 192 to 337 samples/s, for a stall of about "
        "0.5 s."
    )


def reasons(state: ClusterState) -> dict[str, JobReason]:
    """Of those that do not stay as they are."""
    changed = (one for one in plan(state).decisions if one.action is not Action.KEEP)
    return {one.job_id: one.reason for one in changed}


def sharing_fairly(*jobs: PlannedJob) -> ClusterState:
    reclaim = ReclaimRules(target=ReclaimTarget.FAIR_SHARE)
    return with_pool(cluster(*jobs, quotas={}), reclaim=reclaim)


def with_pool(state: ClusterState, **changes: Any) -> ClusterState:
    return replace(state, pools=tuple(replace(pool, **changes) for pool in state.pools))
