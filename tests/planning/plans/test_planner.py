"""The planner as a map: a sentence -> (state, what each job gets and why)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.decisions.plan import Action
from autoscaler.planning.planner import plan
from autoscaler.planning.snapshot.cluster_state import Allocation, ChangeKind, PoolChange
from autoscaler.planning.snapshot.vocabulary import Preemptibility
from tests.planning.builders import (
    NOW,
    SCALES_BADLY,
    applied,
    batch,
    cluster,
    measured,
    running,
    summary,
    waiting,
)

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.cluster_state import ClusterState

EXPECTED: dict[str, tuple[ClusterState, dict[str, tuple[str, JobReason]]]] = {
    "a new job starts at its smallest size": (
        cluster(waiting("a", min_workers=2)),
        {"a": ("start 2", JobReason.JOB_ARRIVED)},
    ),
    "a job that is not measured yet does not grow": (
        cluster(running("a", 1, measurements=())),
        {"a": ("keep 1", JobReason.BEST_ALLOCATION)},
    ),
    "a job measured once grows into free GPUs in one step": (
        cluster(running("a", 1, measurements=measured((1, 100))), nodes=(8,)),
        {"a": ("rescale 4", JobReason.SCALING_EFFICIENT)},
    ),
    "a job that no longer scales gives GPUs back to nobody in particular": (
        cluster(running("a", 4, measurements=measured((1, 100), (2, 140), (4, 100)))),
        {"a": ("rescale 2", JobReason.SCALING_INEFFICIENT)},
    ),
    "a job with a waiting owner shrinks to its guarantee": (
        cluster(running("a", 4), waiting("b", "language", min_workers=2)),
        {
            "a": ("rescale 2", JobReason.RECLAIM_GUARANTEE),
            "b": ("start 2", JobReason.RECLAIM_GUARANTEE),
        },
    ),
    "a job of the same team makes room for a new one": (
        cluster(running("a", 4), waiting("b")),
        {"a": ("rescale 3", JobReason.JOB_ARRIVED), "b": ("start 1", JobReason.JOB_ARRIVED)},
    ),
    "a running job of the team below its guarantee grows at the cost of a borrower": (
        cluster(running("a", 3), running("b", 1, "language")),
        {
            "a": ("rescale 2", JobReason.RECLAIM_GUARANTEE),
            "b": ("rescale 2", JobReason.RECLAIM_GUARANTEE),
        },
    ),
    "a borrower that cannot shrink far enough is paused for an owner": (
        cluster(
            running("a", 2, min_workers=2),
            running("b", 2, min_workers=2, priority=10),
            waiting("c", "language", min_workers=2),
        ),
        {
            "a": ("keep 2", JobReason.BEST_ALLOCATION),
            "b": ("pause", JobReason.RECLAIM_GUARANTEE),
            "c": ("start 2", JobReason.RECLAIM_GUARANTEE),
        },
    ),
    "a non-preemptible borrower is not paused, the owner waits": (
        cluster(
            running("a", 2, min_workers=2),
            running(
                "b", 2, min_workers=2, preemptibility=Preemptibility.NON_PREEMPTIBLE, priority=10
            ),
            waiting("c", "language", min_workers=3),
            quotas={"vision": (1, None), "language": (3, None)},
        ),
        {
            "a": ("keep 2", JobReason.BEST_ALLOCATION),
            "b": ("keep 2", JobReason.BEST_ALLOCATION),
            "c": ("wait", JobReason.WAITING_FOR_RECLAIM),
        },
    ),
    "a new non-preemptible job does not start on GPUs that others are guaranteed": (
        cluster(
            waiting("a", min_workers=3, preemptibility=Preemptibility.NON_PREEMPTIBLE),
        ),
        {"a": ("wait", JobReason.WAITING_FOR_QUOTA)},
    ),
    "guaranteed work of one team is not touched for guaranteed work of another": (
        cluster(
            running("a", 2, min_workers=2),
            running("b", 2, "language", min_workers=2),
            waiting("c"),
        ),
        {
            "a": ("keep 2", JobReason.BEST_ALLOCATION),
            "b": ("keep 2", JobReason.BEST_ALLOCATION),
            "c": ("wait", JobReason.WAITING_FOR_CAPACITY),
        },
    ),
    "nobody starts on borrowed GPUs while somebody is owed them": (
        cluster(
            running("a", 3, min_workers=2, can_rescale=False),
            waiting("b", "language", min_workers=2, priority=90),
            waiting("c", submitted_at=NOW - 500),
        ),
        {
            "a": ("keep 3", JobReason.NOT_RESCALABLE),
            "b": ("wait", JobReason.WAITING_FOR_RECLAIM),
            "c": ("wait", JobReason.WAITING_FOR_RECLAIM),
        },
    ),
    "GPUs on their way back are counted on, and nobody else is asked for them": (
        cluster(
            running(
                "a",
                3,
                can_rescale=False,
                target=Allocation(workers_by_node=(("n1", 1),), global_batch_size=64),
            ),
            running("x", 1, min_workers=1, max_workers=1),
            waiting("b", "language", min_workers=2),
        ),
        {
            "a": ("keep 1", JobReason.NOT_RESCALABLE),
            "x": ("keep 1", JobReason.BEST_ALLOCATION),
            "b": ("start 2", JobReason.JOB_ARRIVED),
        },
    ),
    "a team at its limit waits though GPUs are free": (
        cluster(
            running("a", 2, min_workers=2, max_workers=2),
            waiting("b"),
            quotas={"vision": (1, 2)},
        ),
        {
            "a": ("keep 2", JobReason.BEST_ALLOCATION),
            "b": ("wait", JobReason.WAITING_FOR_QUOTA),
        },
    ),
    "a job larger than the pool can never start": (
        cluster(waiting("a", min_workers=5, max_workers=8)),
        {"a": ("wait", JobReason.EXCEEDS_LIMIT)},
    ),
    "a job larger than its team's limit can never start": (
        cluster(waiting("a", min_workers=3), quotas={"vision": (1, 2)}),
        {"a": ("wait", JobReason.EXCEEDS_LIMIT)},
    ),
    "the team that borrows less for its weight borrows next": (
        cluster(
            running("a", 1, max_workers=1),
            waiting("b", submitted_at=NOW - 90, min_workers=3),
            waiting("c", "language", min_workers=3),
            quotas={"vision": (0, None), "language": (0, None)},
        ),
        {
            "a": ("keep 1", JobReason.BEST_ALLOCATION),
            "b": ("wait", JobReason.WAITING_FOR_CAPACITY),
            "c": ("start 3", JobReason.JOB_ARRIVED),
        },
    ),
    "a large job that has waited long is not overtaken by what cannot be paused": (
        cluster(
            running("a", 3, min_workers=3, max_workers=3),
            waiting("big", min_workers=4, submitted_at=NOW - 400),
            waiting("small", submitted_at=NOW - 5, preemptibility=Preemptibility.NON_PREEMPTIBLE),
            quotas={"vision": (0, None)},
        ),
        {
            "a": ("keep 3", JobReason.BEST_ALLOCATION),
            "big": ("wait", JobReason.WAITING_FOR_CAPACITY),
            "small": ("wait", JobReason.BEHIND_HIGHER_PRIORITY),
        },
    ),
    "what is saved up for a large job is used by a guest until then": (
        cluster(
            running("a", 3, min_workers=3, max_workers=3),
            waiting("big", min_workers=4, submitted_at=NOW - 400),
            waiting("small", submitted_at=NOW - 5),
            quotas={"vision": (0, None)},
        ),
        {
            "a": ("keep 3", JobReason.BEST_ALLOCATION),
            "big": ("wait", JobReason.WAITING_FOR_CAPACITY),
            "small": ("start 1", JobReason.JOB_ARRIVED),
        },
    ),
    "a guest gives way when the large job fits": (
        cluster(
            running("guest", 1, max_workers=1, submitted_at=NOW - 50, started_at=NOW - 50),
            waiting("big", min_workers=4, submitted_at=NOW - 400),
            quotas={"vision": (0, None)},
        ),
        {"guest": ("pause", JobReason.RESERVATION), "big": ("start 4", JobReason.RESERVATION)},
    ),
    "a borrower beside whom a job regains its lost worker has no room left": (
        cluster(
            running("a", 2, min_workers=3, priority=90),
            running("b", 2, min_workers=2, priority=10),
            quotas={"vision": (0, None)},
        ),
        {"a": ("rescale 4", JobReason.NODE_LOST), "b": ("pause", JobReason.WAITING_FOR_CAPACITY)},
    ),
    "a job grows when another has finished": (
        cluster(
            running("a", 2, rescales=3),
            changes=(PoolChange(kind=ChangeKind.JOB_FINISHED, pool="default", name="old"),),
        ),
        {"a": ("rescale 4", JobReason.JOB_FINISHED)},
    ),
    "a lost worker is replaced": (
        cluster(
            running("a", 1, max_workers=2),
            changes=(PoolChange(kind=ChangeKind.WORKER_LOST, pool="default", name="a"),),
        ),
        {"a": ("rescale 2", JobReason.NODE_LOST)},
    ),
    "a job that a policy wants larger has lost nothing": (
        cluster(running("a", 1), running("b", 3, max_workers=3), policy="static", quotas={}),
        {
            "a": ("rescale 4", JobReason.FAIR_SHARE),
            "b": ("pause", JobReason.WAITING_FOR_CAPACITY),
        },
    ),
    "a job below its smallest size that cannot be completed is paused": (
        cluster(running("a", 1, min_workers=3), nodes=(2,)),
        {"a": ("pause", JobReason.NODE_LOST)},
    ),
    "a job changed a moment ago stays": (
        cluster(running("a", 1, last_rescaled_at=NOW - 5, min_interval_seconds=60)),
        {"a": ("keep 1", JobReason.COOLDOWN)},
    ),
    "a job changed a moment ago still gives back what it borrowed": (
        cluster(
            running("a", 4, last_rescaled_at=NOW - 5, min_interval_seconds=60),
            waiting("b", "language", min_workers=2),
        ),
        {
            "a": ("rescale 2", JobReason.RECLAIM_GUARANTEE),
            "b": ("start 2", JobReason.RECLAIM_GUARANTEE),
        },
    ),
    "a job that has just started and is soon done is not changed again": (
        cluster(running("a", 1, started_at=NOW, stall_seconds=30, remaining_samples=500)),
        {"a": ("keep 1", JobReason.BEST_ALLOCATION)},
    ),
    "the batch alone may change, and at most doubles": (
        cluster(
            running(
                "a",
                1,
                max_workers=1,
                batch=batch(64, minimum=32, maximum=1024),
                measurements=(*measured((1, 100)), *measured((1, 52), batch_size=32)),
            )
        ),
        {"a": ("rescale 1", JobReason.BATCH_RETUNE)},
    ),
    "the short job gets more than the long one": (
        cluster(
            running("short", 1, remaining_samples=1_000),
            running("long", 3, remaining_samples=1_000_000),
            quotas={},
        ),
        {"short": ("rescale 3", JobReason.FAIR_SHARE), "long": ("rescale 1", JobReason.FAIR_SHARE)},
    ),
    "GPUs go where they bring more": (
        cluster(
            running("good", 2, max_workers=3),
            running("bad", 2, measurements=SCALES_BADLY),
            quotas={},
        ),
        {
            "good": ("rescale 3", JobReason.FAIR_SHARE),
            "bad": ("rescale 1", JobReason.SCALING_INEFFICIENT),
        },
    ),
    "workers of two GPUs wait when only single GPUs are free": (
        cluster(
            running("a", 1, on=(("n1", 1),), max_workers=1, can_rescale=False),
            running("b", 1, on=(("n2", 1),), max_workers=1, can_rescale=False),
            waiting("c", gpus_per_worker=2),
            nodes=(2, 2),
        ),
        {
            "a": ("keep 1", JobReason.NOT_RESCALABLE),
            "b": ("keep 1", JobReason.NOT_RESCALABLE),
            "c": ("wait", JobReason.FRAGMENTED),
        },
    ),
    "a job moves so that workers of two GPUs find them together": (
        cluster(
            running("a", 1, on=(("n1", 1),), max_workers=1),
            running("b", 1, on=(("n2", 1),), max_workers=1),
            waiting("c", gpus_per_worker=2),
            nodes=(2, 2),
        ),
        {
            "a": ("rescale 1", JobReason.DEFRAGMENT),
            "b": ("keep 1", JobReason.BEST_ALLOCATION),
            "c": ("start 1", JobReason.JOB_ARRIVED),
        },
    ),
    "a job of mode fixed on borrowed GPUs is paused for an owner, never shrunk": (
        cluster(
            running("a", 2, min_workers=2),
            running("b", 2, min_workers=2, max_workers=2, can_rescale=False, can_pause=True),
            waiting("c", "language", min_workers=2),
        ),
        {
            "a": ("keep 2", JobReason.BEST_ALLOCATION),
            "b": ("pause", JobReason.RECLAIM_GUARANTEE),
            "c": ("start 2", JobReason.RECLAIM_GUARANTEE),
        },
    ),
}


@pytest.mark.parametrize("sentence", EXPECTED)
def test_the_planner(sentence: str) -> None:
    state, expected = EXPECTED[sentence]
    result = plan(state)
    reasons = {decision.job_id: decision.reason for decision in result.decisions}
    assert {job: (what, reasons[job]) for job, what in summary(result).items()} == expected
    assert all(pool.gap == 0 for pool in result.pools)


def test_a_reclaim_is_decided_the_same_until_the_gpus_are_free() -> None:
    """Shrinking takes some ticks: the plan neither asks others nor forgets the waiting job."""
    state = cluster(running("a", 3), running("x", 1), waiting("b", "language", min_workers=2))
    first = plan(state)
    assert summary(first) == {"a": "rescale 1", "x": "keep 1", "b": "start 2"}
    a = state.jobs[0]
    shrinking = replace(a, can_rescale=False, target=first.decisions[0].allocation)
    for step in (
        state,  # not applied yet
        replace(state, jobs=(shrinking, *state.jobs[1:])),  # leavers still hold their GPUs
        replace(  # the newest assignment alone
            state,
            jobs=(
                replace(a, can_rescale=False, allocation=first.decisions[0].allocation),
                *state.jobs[1:],
            ),
        ),
    ):
        again = plan(step)
        assert [d.allocation for d in again.decisions] == [d.allocation for d in first.decisions]
    settled = applied(state, first)
    assert {d.action for d in plan(settled).decisions} == {Action.KEEP}


def test_a_closed_node_gets_nothing_new_and_keeps_what_it_has() -> None:
    state = cluster(running("a", 1, on=(("n1", 1),)), waiting("b", "language"), nodes=(2, 2))
    pool = state.pools[0]
    nodes = (replace(pool.nodes[0], is_schedulable=False), pool.nodes[1])
    result = plan(replace(state, pools=(replace(pool, nodes=nodes),)))
    places = {d.job_id: d.allocation.workers_by_node for d in result.decisions if d.allocation}
    assert places == {"a": (("n1", 1), ("n2", 1)), "b": (("n2", 1),)}


def test_pools_are_planned_apart() -> None:
    state = cluster(waiting("a"), waiting("b", pool="other"))
    other = replace(state.pools[0], name="other", policy="throughput")
    result = plan(replace(state, pools=(*state.pools, other)))
    assert summary(result) == {"a": "start 1", "b": "start 1"}
    assert [(p.pool, p.policy) for p in result.pools] == [
        ("default", "completion_time"),
        ("other", "throughput"),
    ]


def test_an_empty_cluster_has_an_empty_plan() -> None:
    result = plan(cluster())
    assert result.decisions == ()
    assert result.pools[0].gpus_used == 0


def test_only_those_in_the_way_of_a_long_waiting_job_make_room_for_it() -> None:
    long_waiting = waiting("old", min_workers=2, max_workers=2, submitted_at=NOW - 301)
    pair = waiting("pair", "language", min_workers=2, max_workers=2, submitted_at=NOW - 1)
    single = waiting("single", "speech", max_workers=1, submitted_at=NOW)
    holding = running("held", 1, max_workers=1, started_at=NOW)
    state = cluster(single, pair, long_waiting, holding, nodes=(1, 3), quotas={})
    told = summary(plan(state))
    assert (told["old"], told["pair"], told["single"]) == ("start 2", "wait", "start 1")
