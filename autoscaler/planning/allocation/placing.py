"""How do the optimizer's sizes and the shapes of the nodes come together?

The optimizer counts GPUs, and each size is predicted for as few nodes as possible. Where the free
GPUs do not allow that, it is told so and asked again: a size that fits nowhere is struck out, one
that would span more nodes than predicted is predicted anew. So a job gets the largest size that
really fits, and what it cannot use goes to others. A job of which not even the smallest size fits
gets room by moves that pay for themselves, or waits as *fragmented*.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from autoscaler.planning.allocation.defragmentation import (
    consolidate,
    may_be_moved,
    move_cost,
    pays,
    room_balance,
)
from autoscaler.planning.placement.fragmentation import Fragmentation
from autoscaler.planning.placement.making_room import MovableShare, relocations_for
from autoscaler.planning.placement.packing import fewest_nodes
from autoscaler.planning.placement.room import Room
from autoscaler.planning.placement.seating import place
from autoscaler.planning.placement.seats import Seats

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from autoscaler.planning.allocation.split import Split
    from autoscaler.planning.demand import Demand, Size
    from autoscaler.planning.placement.fragmentation import MoveBalance, Relocation
    from autoscaler.planning.placement.seats import WorkersByNode
    from autoscaler.planning.snapshot.cluster_state import PlannedNode

    SplitAmong = Callable[[Sequence[Demand]], Split]

MOST_ROUNDS: Final = 4  # guessed: each costs an optimisation; who still misfits then stays or waits


@dataclass(slots=True, kw_only=True)
class Placing:
    """Who gets which size where. Without a size: paused, or waiting on."""

    split: Split
    demands: dict[str, Demand]  # of admitted jobs, as far as the nodes allow them
    sizes: dict[str, Size]
    places: dict[str, WorkersByNode | None]  # None: it does not fit
    changing: Sequence[str]  # of these, who does not simply stay where he is
    room: Room
    balances: dict[str, MoveBalance] = field(default_factory=dict)
    fragmentations: dict[str, Fragmentation] = field(default_factory=dict)


def place_split(
    nodes: Sequence[PlannedNode], admitted: Sequence[Demand], split_among: SplitAmong, *, now: float
) -> Placing:
    """Split the GPUs and seat the workers, again and again until both agree."""
    staying = _without_evicted(nodes, admitted)
    room_now = _room_beside(nodes, staying)
    gathering = consolidate(room_now, staying, now=now)
    demands, fragmentations = gathering.demands, dict[str, Fragmentation]()
    for round_number in range(1, MOST_ROUNDS + 1):
        placing = _place(nodes, demands, split_among, room_now)
        fragmentations |= _misfits(placing)
        corrected = _corrected(placing)
        if not corrected:
            hopeless = _make_room(placing, now=now)
            fragmentations |= hopeless
            corrected = dict.fromkeys(hopeless)
        if not corrected or round_number == MOST_ROUNDS:
            break
        demands = tuple(_replaced(demands, corrected))
        if None in corrected.values():
            room_now = _room_beside(nodes, demands)
    placing.fragmentations = fragmentations
    placing.balances |= gathering.balances
    return placing


def _without_evicted(nodes: Sequence[PlannedNode], admitted: Sequence[Demand]) -> list[Demand]:
    """All but those on draining nodes that cannot be rescaled, but paused: they leave that way."""
    draining = {node.name for node in nodes if node.is_draining}

    def is_evicted(demand: Demand) -> bool:
        is_there = any(node in draining for node, _ in demand.placement)
        return is_there and demand.is_pinned and demand.can_be_paused

    return [demand for demand in admitted if not (draining and is_evicted(demand))]


def _room_beside(nodes: Sequence[PlannedNode], demands: Iterable[Demand]) -> Room:
    return Room.of(nodes, ((d.placement, d.job.gpus_per_worker) for d in demands))


def _place(
    nodes: Sequence[PlannedNode], demands: Sequence[Demand], split_among: SplitAmong, room_now: Room
) -> Placing:
    """One round. Where no split exists, everybody who runs stays as he is."""
    shares = split_among(demands)
    sizes = dict(shares.sizes)
    if shares.solution is None:
        sizes = {d.job.job_id: d.present for d in demands if d.present is not None}
    by_id = {demand.job.job_id: demand for demand in demands}
    sized = ((by_id[job_id], size) for job_id, size in sizes.items())
    changing = [_seats(demand, size) for demand, size in sized if not _stays_put(demand, size)]
    seating = place(nodes, changing, room_now=room_now)
    places: dict[str, WorkersByNode | None] = {job_id: by_id[job_id].placement for job_id in sizes}
    places.update(seating.places)
    return Placing(
        split=shares,
        demands=by_id,
        sizes=sizes,
        places=places,
        changing=[seat.job_id for seat in changing],
        room=seating.room,
    )


def _seats(demand: Demand, size: Size) -> Seats:
    return Seats(
        job_id=demand.job.job_id,
        gpus_per_worker=demand.job.gpus_per_worker,
        workers=size.workers,
        placement=demand.placement,
        is_pinned=demand.is_pinned,
        may_move=_is_gathered(demand, size),
    )


def _stays_put(demand: Demand, size: Size) -> bool:
    """True if it keeps its number of workers, and none of them has to leave, or is to."""
    is_calm = demand.held == size.workers and not demand.displaced_workers
    return is_calm and not _is_gathered(demand, size)


def _is_gathered(demand: Demand, size: Size) -> bool:
    return demand.present is not None and demand.present.spans_nodes and not size.spans_nodes


def _misfits(placing: Placing) -> dict[str, Fragmentation]:
    if None not in placing.places.values():
        return {}
    free_by_node = placing.room.free_by_node()
    return {
        job_id: Fragmentation.of(
            free_by_node,
            workers=placing.sizes[job_id].workers,
            gpus_per_worker=placing.demands[job_id].job.gpus_per_worker,
        )
        for job_id, found in placing.places.items()
        if found is None
    }


def _corrected(placing: Placing) -> dict[str, Demand | None]:
    """Return what the optimizer should be told; None: the job cannot go on.

    Waiting jobs without any size that fits are left for `_make_room`.
    """
    corrected: dict[str, Demand | None] = {}
    for job_id in placing.changing:
        demand, size = placing.demands[job_id], placing.sizes[job_id]
        found = placing.places[job_id]
        if found is None:
            smaller = _that_fit(demand, placing.room)
            if smaller is not None or demand.is_active:
                corrected[job_id] = smaller
        elif len(found) > 1 and not size.spans_nodes and size.samples_per_second:
            corrected[job_id] = demand.together_up_to(_most_together(demand, found, placing.room))
    return corrected


def _that_fit(demand: Demand, room: Room) -> Demand | None:
    """The demand without sizes for which no room is left; None where none remains."""
    staying = demand.held - demand.displaced_workers
    most = staying + room.capacity(demand.job.gpus_per_worker)
    sizes = tuple(size for size in demand.sizes if size.workers <= most)
    if sizes:
        return replace(demand, sizes=sizes, larger=(*demand.sizes[len(sizes) :], *demand.larger))
    if demand.is_active and not (demand.displaced_workers and demand.can_be_paused):
        return demand.staying()
    return None


def _most_together(demand: Demand, found: WorkersByNode, room: Room) -> int:
    """Workers that the best node takes, if it need not share them."""
    gpus_per_worker = demand.job.gpus_per_worker
    room.give_back(dict(found), gpus_per_worker)
    most = room.most_together(gpus_per_worker)
    room.take(dict(found), gpus_per_worker)
    return most


def _make_room(placing: Placing, *, now: float) -> dict[str, Fragmentation]:
    """Seat waiting jobs that do not fit by moves that pay; returns those that have to wait on."""
    hopeless = [job_id for job_id, found in placing.places.items() if found is None]
    waiting = [placing.demands[job_id] for job_id in hopeless]
    refused: dict[str, Fragmentation] = {}
    for demand in sorted(waiting, key=lambda d: (-d.smallest_gpus, d.job.job_id)):
        moves = relocations_for(
            demand.sizes[0].workers,
            demand.job.gpus_per_worker,
            room=placing.room,
            shares=_movable_shares(placing, now=now),
        )
        if moves is None or not _pay(placing, demand, moves, now=now):
            refused[demand.job.job_id] = _fragmentation(placing, demand, moves or ())
    return refused


def _movable_shares(placing: Placing, *, now: float) -> list[MovableShare]:
    """Shares of jobs that would otherwise stay as they are, each moved at most once in a plan."""
    return [
        MovableShare(
            job_id=job_id,
            node=node,
            workers=workers,
            gpus_per_worker=demand.job.gpus_per_worker,
            cost=move_cost(demand),
        )
        for job_id, demand in placing.demands.items()
        if _stays(placing, demand) and may_be_moved(demand, now)
        for node, workers in placing.places[job_id] or ()
    ]


def _stays(placing: Placing, demand: Demand) -> bool:
    job_id = demand.job.job_id
    return (
        demand.allocation is not None
        and job_id not in placing.balances
        and placing.sizes.get(job_id) == demand.present
        and placing.places[job_id] == demand.allocation.workers_by_node
    )


def _pay(placing: Placing, demand: Demand, moves: tuple[Relocation, ...], *, now: float) -> bool:
    """Keep the moves, and seat the job, if its start is worth them; else take them back."""
    moved = {move.job_id for move in moves}
    balance = room_balance(
        demand, [placing.demands[job_id] for job_id in moved], placing.demands.values(), now=now
    )
    if not pays(balance.gain_gpu_seconds, balance.cost_gpu_seconds):
        _move(placing.room, placing.demands, reversed(moves), is_back=True)
        return False
    gpus_per_worker, smallest = demand.job.gpus_per_worker, demand.sizes[0]
    seated = fewest_nodes(placing.room, smallest.workers, gpus_per_worker=gpus_per_worker)
    assert seated is not None  # noqa: S101 - `relocations_for` made room
    placing.room.take(seated, gpus_per_worker)
    placing.sizes[demand.job.job_id] = smallest
    placing.places[demand.job.job_id] = tuple(sorted(seated.items()))
    for move in moves:
        placing.places[move.job_id] = _after(placing.places[move.job_id] or (), move)
    placing.balances |= dict.fromkeys(moved, balance)
    return True


def _move(
    room: Room, demands: Mapping[str, Demand], moves: Iterable[Relocation], *, is_back: bool
) -> None:
    for move in moves:
        gpus = demands[move.job_id].job.gpus_per_worker
        source, target = move.from_node, move.to_node
        if is_back:
            source, target = target, source
        room.give_back({source: move.workers}, gpus)
        room.take({target: move.workers}, gpus)


def _after(placement: WorkersByNode, move: Relocation) -> WorkersByNode:
    places = dict(placement)
    del places[move.from_node]
    places[move.to_node] = places.get(move.to_node, 0) + move.workers
    return tuple(sorted(places.items()))


def _fragmentation(
    placing: Placing, demand: Demand, moves: tuple[Relocation, ...]
) -> Fragmentation:
    return Fragmentation.of(
        placing.room.free_by_node(),
        workers=demand.sizes[0].workers,
        gpus_per_worker=demand.job.gpus_per_worker,
        relocations=moves,
    )


def _replaced(
    demands: Iterable[Demand], corrected: Mapping[str, Demand | None]
) -> Iterable[Demand]:
    for demand in demands:
        changed = corrected.get(demand.job.job_id, demand)
        if changed is not None:
            yield changed
