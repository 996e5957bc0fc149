from __future__ import annotations

from collections.abc import Mapping

from autoscaler.planning.placement.seating import place as seat_all
from autoscaler.planning.placement.seats import Seats, WorkersByNode
from autoscaler.planning.snapshot.cluster_state import PlannedNode


def place(nodes: tuple[PlannedNode, ...], seats: list[Seats]) -> Mapping[str, WorkersByNode | None]:
    return seat_all(nodes, seats).places


def nodes(*gpus: int) -> tuple[PlannedNode, ...]:
    return tuple(PlannedNode(name=f"n{i}", gpus=count) for i, count in enumerate(gpus, 1))


def seats(
    job_id: str, workers: int, *placement: tuple[str, int], gpus_per_worker: int = 1
) -> Seats:
    return Seats(
        job_id=job_id, workers=workers, placement=placement, gpus_per_worker=gpus_per_worker
    )


def test_workers_that_stay_keep_their_places() -> None:
    placed = place(nodes(4, 4), [seats("a", 3, ("n1", 1), ("n2", 2)), seats("b", 4)])
    assert placed["a"] == (("n1", 1), ("n2", 2))
    assert placed["b"] == (("n1", 3), ("n2", 1))


def test_a_job_goes_to_the_tightest_node_that_takes_all_of_it() -> None:
    assert place(nodes(8, 3, 4), [seats("a", 3)])["a"] == (("n2", 3),)


def test_a_job_too_large_for_a_node_spans_as_few_as_possible() -> None:
    assert place(nodes(2, 4, 4), [seats("a", 6)])["a"] == (("n1", 2), ("n2", 4))


def test_a_growing_job_prefers_the_node_it_is_on() -> None:
    assert place(nodes(4, 2), [seats("a", 3, ("n1", 1))])["a"] == (("n1", 3),)


def test_a_shrinking_job_leaves_closed_nodes_first_then_the_smallest_part() -> None:
    held = (("n1", 1), ("n2", 2), ("n3", 3))
    full = nodes(1, 2, 3)
    assert place(full, [seats("a", 4, *held)])["a"] == (("n2", 1), ("n3", 3))
    closed = (*full[:2], PlannedNode(name="n3", gpus=3, is_schedulable=False))
    assert place(closed, [seats("a", 3, *held)])["a"] == (("n1", 1), ("n2", 2))


def test_a_job_that_changes_gathers_on_one_node_with_as_few_moves_as_possible() -> None:
    held = (("n1", 1), ("n2", 2), ("n3", 3))
    assert place(nodes(4, 4, 4), [seats("a", 4, *held)])["a"] == (("n3", 4),)


def test_a_job_that_changes_moves_altogether_where_that_needs_fewer_nodes() -> None:
    neighbour = seats("b", 2, ("n1", 2))
    placed = place(nodes(4, 4), [seats("a", 4, ("n1", 2)), neighbour])
    assert placed == {"a": (("n2", 4),), "b": (("n1", 2),)}


def test_a_job_that_keeps_its_size_is_not_moved_for_tidiness() -> None:
    held = (("n1", 1), ("n2", 1))
    assert place(nodes(4, 4), [seats("a", 2, *held)])["a"] == held


def test_what_one_job_leaves_another_takes_in_the_same_plan() -> None:
    placed = place(nodes(4), [seats("a", 2, ("n1", 4)), seats("b", 2)])
    assert placed == {"a": (("n1", 2),), "b": (("n1", 2),)}


def test_large_workers_are_seated_before_small_ones_scatter_the_room() -> None:
    placed = place(nodes(2, 2), [seats("a", 2), seats("b", 1, gpus_per_worker=2)])
    assert placed == {"a": (("n2", 2),), "b": (("n1", 1),)}


def test_scattered_gpus_hold_no_large_worker() -> None:
    placement = [seats("a", 1, ("n1", 1)), seats("b", 1, ("n2", 1))]
    assert place(nodes(2, 2), [*placement, seats("c", 1, gpus_per_worker=2)])["c"] is None
