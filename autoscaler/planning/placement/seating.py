"""Where do all jobs of a plan stand? Nobody moves without need, and what changes packs well.

A job that keeps its size keeps its places. One that shrinks leaves closed nodes first, then the
nodes where it has fewest workers. One that grows stays where there is room. Since a job whose size
changes stops for a moment anyway, it moves altogether where that brings it onto fewer nodes, or
away from another distributed job. Workers leave a draining node in any case.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from autoscaler.planning.placement.packing import fewest_nodes
from autoscaler.planning.placement.room import Room

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from autoscaler.planning.placement.seats import Seats, WorkersByNode
    from autoscaler.planning.snapshot.cluster_state import PlannedNode


@dataclass(frozen=True, slots=True, kw_only=True)
class Seating:
    """Workers by node for every job, None where they do not fit; and the room that is left."""

    places: Mapping[str, WorkersByNode | None]
    room: Room


def place(
    nodes: Sequence[PlannedNode], seats: Sequence[Seats], *, room_now: Room | None = None
) -> Seating:
    """Seat every job. The order of `seats` does not matter.

    Those that stay or shrink are placed before those that need room, and those with the largest
    workers, then the most, before the others: no order fits more workers whose sizes divide one
    another, as 1, 2, 4 and 8 do.

    `room_now` is the room beside all jobs where they stand now, and beside others that stay, where
    that is known already; it is left as it is.

    Cost: for each job that changes about as much as it has nodes, and linear in the others.
    """
    by_name = {node.name: node for node in nodes}
    room = room_now.copy() if room_now else Room.of(nodes, map(_placement, seats))
    places: dict[str, WorkersByNode | None] = {}
    changing: list[tuple[Seats, dict[str, int]]] = []
    for seat in seats:
        before, kept = dict(seat.placement), _kept(seat, by_name)
        if seat.held == seat.workers and kept == before and not seat.may_move:
            places[seat.job_id] = seat.placement
        else:
            room.give_back(before, seat.gpus_per_worker)
            room.take(kept, seat.gpus_per_worker)
            changing.append((seat, kept))
    for seat, kept in sorted(changing, key=_hardest_first):
        beside = _beside(room, seat, kept) if kept else None
        room.give_back(kept, seat.gpus_per_worker)
        found = beside if _has_to_stay(room, kept) else _best(room, seat, beside)
        room.take(kept if found is None else found, seat.gpus_per_worker)
        places[seat.job_id] = None if found is None else tuple(sorted(found.items()))
    return Seating(places=places, room=room)


def _placement(seat: Seats) -> tuple[WorkersByNode, int]:
    return seat.placement, seat.gpus_per_worker


def _hardest_first(item: tuple[Seats, dict[str, int]]) -> tuple[int, int, str]:
    seat, kept = item
    return (-seat.gpus_per_worker, sum(kept.values()) - seat.workers, seat.job_id)


def _kept(seat: Seats, nodes: Mapping[str, PlannedNode]) -> dict[str, int]:
    """Return the workers that stay: all but the surplus and those on draining nodes."""
    if seat.is_pinned:
        return dict(seat.placement)
    placement = {
        name: count
        for name, count in seat.placement
        if name in nodes and not nodes[name].is_draining
    }
    surplus = sum(placement.values()) - seat.workers
    if surplus <= 0:
        return placement
    for name in sorted(placement, key=lambda one: (nodes[one].is_schedulable, placement[one], one)):
        leaving = min(max(surplus, 0), placement[name])
        placement[name] -= leaving
        surplus -= leaving
    return {name: count for name, count in placement.items() if count}


def _has_to_stay(room: Room, kept: Mapping[str, int]) -> bool:
    """Workers on closed nodes leave GPUs on the others to those who need them."""
    return any(not room.is_open(node) for node in kept)


def _best(room: Room, seat: Seats, beside: dict[str, int] | None) -> dict[str, int] | None:
    """Growing beside those who stay, or standing anew: the better; among equals, staying."""
    if beside and len(beside) == 1:
        return beside
    anew = fewest_nodes(
        room, seat.workers, gpus_per_worker=seat.gpus_per_worker, own=dict(seat.placement)
    )
    possible = [one for one in (beside, anew) if one is not None]
    return min(possible, key=lambda one: _cost(room, seat, one), default=None)


def _cost(room: Room, seat: Seats, place: Mapping[str, int]) -> tuple[bool, int, int, int]:
    """Spans nodes, shares them with distributed jobs, how many nodes, how many new workers."""
    placement = dict(seat.placement)
    spans = len(place) > 1
    shared = sum(map(room.has_distributed, place)) if spans else 0
    joining = sum(max(count - placement.get(node, 0), 0) for node, count in place.items())
    return (spans, shared, len(place), joining)


def _beside(room: Room, seat: Seats, kept: dict[str, int]) -> dict[str, int] | None:
    """Seat the missing ones beside those who stay, and the rest on as few nodes as possible."""
    gpus, missing = seat.gpus_per_worker, seat.workers - sum(kept.values())
    fitting = {node: room.free(node) // gpus for node in kept}
    takes_all = [node for node in kept if fitting[node] >= missing]
    order = sorted(kept, key=lambda node: (-fitting[node], node))
    if takes_all:
        order = [min(takes_all, key=lambda node: (fitting[node], node))]
    joining: dict[str, int] = {}
    for node in order:
        joining[node] = min(fitting[node], missing)
        missing -= joining[node]
    together = {node: count + joining.get(node, 0) for node, count in kept.items()}
    if missing == 0:
        return together
    room.take(joining, gpus)
    rest = fewest_nodes(room, missing, gpus_per_worker=gpus, is_distributed=True)
    room.give_back(joining, gpus)
    return None if rest is None else together | rest
