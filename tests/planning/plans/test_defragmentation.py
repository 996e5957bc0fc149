"""Which moves of running jobs does the planner make, and when does it leave everybody in peace?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.decisions.plan import Action
from autoscaler.planning.planner import plan
from autoscaler.planning.snapshot.cluster_state import PlannedNode, StepTime
from autoscaler.planning.snapshot.vocabulary import Preemptibility
from tests.planning.builders import NOW, SCALES_WELL, applied, cluster, running, summary, waiting

if TYPE_CHECKING:
    from autoscaler.planning.decisions.plan import Decision, Plan
    from autoscaler.planning.snapshot.cluster_state import ClusterState, PlannedJob

HALVES = (("n1", 1), ("n2", 1))


def measurement(workers: int, nodes: int, rate: float) -> StepTime:
    return StepTime(
        workers=workers, nodes=nodes, global_batch_size=64, steps=50, step_seconds=64 / rate
    )


SLOW_ACROSS_NODES = tuple(measurement(*m) for m in ((1, 1, 100.0), (2, 1, 190.0), (2, 2, 110.0)))


def scattered(name: str = "a", **overrides: Any) -> PlannedJob:
    """Two workers on two nodes, nearly twice as fast on one."""
    values: dict[str, Any] = {
        "on": HALVES,
        "min_workers": 2,
        "max_workers": 2,
        "measurements": SLOW_ACROSS_NODES,
    }
    return running(name, 2, **(values | overrides))


def decision(result: Plan, job_id: str = "a") -> Decision:
    return next(one for one in result.decisions if one.job_id == job_id)


def settles(state: ClusterState) -> ClusterState:
    """Nothing more happens after the plan: no move is undone by the next."""
    after = applied(state, plan(state))
    again = plan(after)
    assert {d.action for d in again.decisions} <= {Action.KEEP, Action.WAIT}
    return after


def test_a_scattered_job_is_gathered_on_one_node_and_stays_there() -> None:
    state = cluster(scattered(), nodes=(2, 2))
    result = plan(state)
    moved = decision(result)
    assert (moved.action, moved.reason) == (Action.RESCALE, JobReason.DEFRAGMENT)
    assert moved.allocation is not None
    assert moved.allocation.workers_by_node == (("n1", 2),)
    settles(state)


def test_a_job_about_to_end_is_left_where_it_is() -> None:
    state = cluster(scattered(remaining_samples=50, stall_seconds=0.5), nodes=(2, 2))
    assert decision(plan(state)).action is Action.KEEP


def test_a_move_that_stalls_longer_than_it_saves_is_not_made() -> None:
    """100,000 samples: 909 s across nodes, 526 s on one; twice a stall of 200 s is more."""
    worth_it = cluster(scattered(stall_seconds=20.0), nodes=(2, 2))
    not_worth_it = cluster(scattered(stall_seconds=200.0), nodes=(2, 2))
    assert decision(plan(worth_it)).action is Action.RESCALE
    assert decision(plan(not_worth_it)).action is Action.KEEP


def test_a_job_that_is_as_fast_across_nodes_is_not_moved() -> None:
    even = tuple(measurement(*m) for m in ((1, 1, 100.0), (2, 1, 190.0), (2, 2, 188.0)))
    state = cluster(scattered(measurements=even), nodes=(2, 2))
    assert decision(plan(state)).action is Action.KEEP


def test_pinned_and_cooling_jobs_are_not_moved() -> None:
    pinned = scattered(can_rescale=False)
    cooling = scattered(last_rescaled_at=NOW - 5, min_interval_seconds=60.0)
    for job in (pinned, cooling):
        assert decision(plan(cluster(job, nodes=(2, 2)))).action is Action.KEEP


def test_a_job_without_a_node_to_gather_on_is_left_in_peace() -> None:
    neighbour = running("b", 1, on=(("n1", 1),), max_workers=1)
    other = running("c", 1, on=(("n2", 1),), max_workers=1)
    state = cluster(scattered(), neighbour, other, nodes=(2, 2))
    assert set(summary(plan(state)).values()) == {"keep 2", "keep 1"}


def test_only_a_few_jobs_are_gathered_in_one_plan() -> None:
    jobs = [
        scattered(f"j{i}", on=((f"n{2 * i + 1}", 1), (f"n{2 * i + 2}", 1)), team="vision")
        for i in range(5)
    ]
    result = plan(cluster(*jobs, nodes=(2,) * 10))
    assert sum(d.reason is JobReason.DEFRAGMENT for d in result.decisions) == 3


def small(name: str, node: str, **overrides: Any) -> PlannedJob:
    return running(name, 1, on=((node, 1),), max_workers=1, **overrides)


def test_a_small_job_makes_room_for_one_whose_workers_need_more() -> None:
    state = cluster(
        small("a", "n1"), small("b", "n2"), waiting("c", gpus_per_worker=2), nodes=(2, 2)
    )
    result = plan(state)
    assert summary(result) == {"a": "rescale 1", "b": "keep 1", "c": "start 1"}
    assert decision(result, "a").reason is JobReason.DEFRAGMENT
    settles(state)


def test_the_cheapest_job_makes_room() -> None:
    dear = small("a", "n1", stall_seconds=5.0)
    state = cluster(dear, small("b", "n2"), waiting("c", gpus_per_worker=2), nodes=(2, 2))
    assert summary(plan(state)) == {"a": "keep 1", "b": "rescale 1", "c": "start 1"}


def test_nobody_makes_room_where_a_gpu_becomes_free_sooner_than_a_move_pays() -> None:
    ending = small("b", "n2", remaining_samples=100)  # in a second
    state = cluster(
        small("a", "n1", stall_seconds=5.0),
        replace(ending, stall_seconds=5.0),
        waiting("c", gpus_per_worker=2),
        nodes=(2, 2),
    )
    result = plan(state)
    assert summary(result) == {"a": "keep 1", "b": "keep 1", "c": "wait"}
    assert decision(result, "c").reason is JobReason.FRAGMENTED
    told = result.explanations["c"]
    assert told.fragmentation.free_by_node == (("n1", 1), ("n2", 1))  # type: ignore[union-attr]
    assert told.fragmentation.gpus_free == 2  # type: ignore[union-attr]


def test_jobs_leave_a_draining_node_without_stopping() -> None:
    state = draining(cluster(small("a", "n1"), nodes=(2, 2)))
    moved = decision(plan(state))
    assert (moved.action, moved.reason) == (Action.RESCALE, JobReason.NODE_DRAINED)
    assert moved.allocation is not None
    assert moved.allocation.workers_by_node == (("n2", 1),)
    settles(state)


def test_a_job_shrinks_when_the_other_nodes_have_less_room_than_the_draining_one() -> None:
    state = draining(cluster(running("a", 4, on=(("n1", 4),)), nodes=(4, 2)))
    moved = decision(plan(state))
    assert moved.allocation is not None
    assert (moved.action, moved.allocation.workers_by_node) == (Action.RESCALE, (("n2", 2),))
    assert moved.reason is JobReason.NODE_DRAINED


def test_a_job_that_fits_nowhere_else_is_paused_unless_it_is_changing() -> None:
    job = running("a", 4, on=(("n1", 4),), min_workers=4)
    assert decision(plan(draining(cluster(job, nodes=(4, 2))))).action is Action.PAUSE
    fixed = replace(job, can_rescale=False, can_pause=True)
    gone = decision(plan(draining(cluster(fixed, nodes=(4, 2)))))
    assert (gone.action, gone.reason) == (Action.PAUSE, JobReason.NODE_DRAINED)
    changing = replace(job, can_rescale=False)
    assert decision(plan(draining(cluster(changing, nodes=(4, 2))))).action is Action.KEEP


def test_a_non_preemptible_job_stays_on_a_draining_node_only_while_it_fits_nowhere_else() -> None:
    job = running(
        "a",
        4,
        on=(("n1", 4),),
        min_workers=4,
        preemptibility=Preemptibility.NON_PREEMPTIBLE,
    )
    stays = draining(cluster(job, nodes=(4, 2)))
    assert decision(plan(stays)).action is Action.KEEP
    settles(stays)
    moved = decision(plan(draining(cluster(job, nodes=(4, 4)))))
    assert moved.allocation is not None
    assert (moved.action, moved.allocation.workers_by_node) == (Action.RESCALE, (("n2", 4),))
    fixed = replace(job, can_rescale=False, can_pause=True)
    assert decision(plan(draining(cluster(fixed, nodes=(4, 2))))).action is Action.KEEP


def test_others_make_room_for_a_non_preemptible_job_that_leaves_a_draining_node() -> None:
    job = running(
        "a", 2, on=(("n1", 2),), min_workers=2, preemptibility=Preemptibility.NON_PREEMPTIBLE
    )
    other = running("b", 2, on=(("n2", 2),), min_workers=2)
    told = summary(plan(draining(cluster(job, other, nodes=(2, 2)))))
    assert (told["a"], told["b"]) == ("rescale 2", "pause")


def draining(state: ClusterState) -> ClusterState:
    """The first node is being drained."""
    pool = state.pools[0]
    first = PlannedNode(name="n1", gpus=pool.nodes[0].gpus, is_schedulable=False, is_draining=True)
    return replace(state, pools=(replace(pool, nodes=(first, *pool.nodes[1:])),))


def test_a_start_falls_back_to_the_largest_size_that_fits_and_others_get_the_rest() -> None:
    """Six GPUs are free for three workers of two, but there are only two such pairs."""
    pairs = waiting("a", gpus_per_worker=2, max_workers=3, measurements=SCALES_WELL)
    single = running("b", 1, "language", on=(("n3", 1),))
    odd = [small(f"s{i}", f"n{i}", can_rescale=False) for i in (1, 2, 4)]
    quotas: dict[str, tuple[int, int | None]] = {"vision": (9, None), "language": (0, None)}
    state = cluster(*odd, single, pairs, nodes=(3, 3, 2, 2), quotas=quotas)
    told = summary(plan(state))
    assert (told["a"], told["b"]) == ("start 2", "rescale 3")
