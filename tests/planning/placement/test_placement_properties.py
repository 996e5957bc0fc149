"""What holds of every seating whatever, and how it compares with trying all of them."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from autoscaler.planning.placement.packing import fewest_nodes
from autoscaler.planning.placement.room import Room
from autoscaler.planning.placement.seating import place
from autoscaler.planning.placement.seats import Seats
from autoscaler.planning.snapshot.cluster_state import PlannedNode
from tests.campaigns import examples

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from autoscaler.planning.placement.seats import WorkersByNode

MANY = examples(200)
Instance = tuple[tuple[PlannedNode, ...], list[Seats]]


@st.composite
def nodes(draw: st.DrawFn, *, most: int = 5) -> tuple[PlannedNode, ...]:
    sizes = draw(st.lists(st.integers(1, 8), min_size=1, max_size=most))
    services = st.sampled_from(((True, False), (True, False), (False, False), (False, True)))
    made = [(gpus, *draw(services)) for gpus in sizes]
    return tuple(
        PlannedNode(name=f"n{i}", gpus=gpus, is_schedulable=is_open, is_draining=is_draining)
        for i, (gpus, is_open, is_draining) in enumerate(made, 1)
    )


@st.composite
def instances(draw: st.DrawFn) -> Instance:
    """Jobs that stand somewhere or nowhere, and shall have any number of workers."""
    machines = draw(nodes())
    free = {node.name: node.gpus for node in machines}
    seats = []
    for number in range(draw(st.integers(1, 6))):
        gpus_per_worker = draw(st.sampled_from((1, 1, 2, 4)))
        placement = {}
        for name, left in list(free.items()):
            count = draw(st.integers(0, min(left // gpus_per_worker, 3)))
            if count and draw(st.booleans()):
                placement[name] = count
                free[name] -= count * gpus_per_worker
        held = sum(placement.values())
        seats.append(
            Seats(
                job_id=f"j{number}",
                gpus_per_worker=gpus_per_worker,
                workers=draw(st.sampled_from((held, held, held + 1, held + 3, max(held - 1, 1)))),
                placement=tuple(sorted(placement.items())),
            )
        )
    return machines, [seat for seat in seats if seat.workers]


def settled(seat: Seats, found: WorkersByNode | None) -> Mapping[str, int]:
    """Where its workers are after the plan; a job that does not fit stays."""
    return dict(seat.placement if found is None else found)


@MANY
@given(instances())
def test_no_gpu_is_used_twice_and_everybody_gets_what_was_meant(instance: Instance) -> None:
    machines, seats = instance
    places = place(machines, seats).places
    used = Counter[str]()
    for seat in seats:
        found = places[seat.job_id]
        assert found is None or sum(count for _, count in found) == seat.workers
        for node, count in settled(seat, found).items():
            used[node] += count * seat.gpus_per_worker
    assert all(used[node.name] <= node.gpus for node in machines)


@MANY
@given(instances())
def test_closed_nodes_get_nothing_new_and_draining_ones_keep_nobody(instance: Instance) -> None:
    machines, seats = instance
    places = place(machines, seats).places
    for seat in seats:
        before, found = dict(seat.placement), places[seat.job_id]
        after = settled(seat, found)
        for node in machines:
            if not node.is_schedulable:
                assert after.get(node.name, 0) <= before.get(node.name, 0)
            if node.is_draining and found is not None:
                assert node.name not in after


@MANY
@given(instances())
def test_who_keeps_his_size_stays(instance: Instance) -> None:
    machines, seats = instance
    draining = {node.name for node in machines if node.is_draining}
    places = place(machines, seats).places
    for seat in seats:
        is_leaving = draining & dict(seat.placement).keys()
        if seat.held == seat.workers and not is_leaving:
            assert places[seat.job_id] == seat.placement


@MANY
@given(instances())
def test_who_grows_leaves_a_node_only_to_stand_on_fewer(instance: Instance) -> None:
    machines, seats = instance
    draining = {node.name for node in machines if node.is_draining}
    for seat in seats:
        found = place(machines, [seat]).places[seat.job_id]
        if found is None or draining & dict(seat.placement).keys():
            continue
        stays = all(dict(found).get(node, 0) >= count for node, count in seat.placement)
        if seat.workers > seat.held and not stays:
            assert len(found) < nodes_beside(machines, seat)


def nodes_beside(machines: Sequence[PlannedNode], seat: Seats) -> float:
    """On how many nodes a job stands that grows where it is, and only then elsewhere."""
    placement, missing = dict(seat.placement), seat.workers - seat.held
    fitting = {
        node.name: node.gpus // seat.gpus_per_worker - placement.get(node.name, 0)
        for node in machines
        if node.is_schedulable
    }
    missing -= sum(fitting.pop(name, 0) for name in placement)
    others = itertools.accumulate(sorted(fitting.values(), reverse=True))
    enough = (count for count, workers in enumerate(others, 1) if workers >= missing)
    return len(placement) + (next(enough, math.inf) if missing > 0 else 0)


@MANY
@given(instances(), st.randoms(use_true_random=False))
def test_the_order_of_jobs_and_nodes_does_not_matter(
    instance: Instance, rng: random.Random
) -> None:
    machines, seats = instance
    shuffled, others = list(machines), list(seats)
    rng.shuffle(shuffled)
    rng.shuffle(others)
    assert place(shuffled, others).places == place(machines, seats).places


def spreads(
    machines: Sequence[PlannedNode], free: Mapping[str, int], workers: int, gpus: int
) -> Iterator[dict[str, int]]:
    """Every way to seat one job's workers."""
    ranges = [range(min(free[node.name] // gpus, workers) + 1) for node in machines]
    for counts in itertools.product(*ranges):
        if sum(counts) == workers:
            yield {n.name: c for n, c in zip(machines, counts, strict=True) if c}


@MANY
@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=5),
    st.integers(1, 8),
    st.sampled_from((1, 1, 2, 3)),
    st.data(),
)
def test_one_job_is_packed_as_well_as_by_trying_everything(
    gpus: list[int], workers: int, gpus_per_worker: int, data: st.DataObject
) -> None:
    """First together, then away from distributed jobs, then on as few nodes as possible."""
    machines = [PlannedNode(name=f"n{i}", gpus=count) for i, count in enumerate(gpus, 1)]
    room = Room.of(machines)
    pairs = [(a.name, b.name) for a, b in itertools.combinations(machines, 2)]
    free = {node.name: node.gpus for node in machines}
    if pairs and data.draw(st.booleans()):
        other = dict.fromkeys(data.draw(st.sampled_from(pairs)), 1)
        room.take(other, 1)
        free = {name: count - other.get(name, 0) for name, count in free.items()}

    def badness(spread: Mapping[str, int]) -> tuple[int, int, int]:
        shared = sum(map(room.has_distributed, spread)) if len(spread) > 1 else 0
        return (int(len(spread) > 1), shared, len(spread))

    found = fewest_nodes(room, workers, gpus_per_worker=gpus_per_worker)
    every = [badness(s) for s in spreads(machines, free, workers, gpus_per_worker)]
    assert (found is None) == (not every)
    if found is not None:
        assert badness(found) == min(every)
        assert all(free[node] >= count * gpus_per_worker for node, count in found.items())


def fits_somehow(free: Sequence[int], workers: Sequence[int]) -> bool:
    """Whether workers of these sizes fit into the free GPUs, by trying every place for each."""
    if not workers:
        return True
    largest, *rest = workers
    return any(
        fits_somehow([*free[:i], gpus - largest, *free[i + 1 :]], rest)
        for i, gpus in enumerate(free)
        if gpus >= largest and gpus not in free[:i]
    )


@MANY
@given(
    st.lists(st.integers(1, 8), min_size=1, max_size=4),
    st.lists(st.tuples(st.sampled_from((1, 2, 4, 8)), st.integers(1, 3)), min_size=1, max_size=4),
)
def test_no_shape_is_called_missing_that_another_packing_would_find(
    gpus: list[int], jobs: list[tuple[int, int]]
) -> None:
    machines = [PlannedNode(name=f"n{i}", gpus=count) for i, count in enumerate(gpus, 1)]
    seats = [
        Seats(job_id=f"j{i}", gpus_per_worker=size, workers=workers)
        for i, (size, workers) in enumerate(jobs)
    ]
    everybody = sorted((size for size, workers in jobs for _ in range(workers)), reverse=True)
    places = place(machines, seats).places
    assert all(found is not None for found in places.values()) == fits_somehow(gpus, everybody)
