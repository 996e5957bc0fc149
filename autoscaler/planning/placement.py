"""On which nodes do the workers stand? Fewest nodes, nobody moves, closed nodes get nothing new.

Workers that stay keep their places. A job that shrinks leaves closed nodes first, then the nodes
where it has fewest workers. A job that grows stays on its nodes where there is room; what is left
goes to the tightest node that takes all of it, or fills the emptiest nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from autoscaler.planning.cluster_state import Node

    WorkersByNode = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seats:
    """What one job wants to place: it stands on `standing` and shall have `workers`."""

    job_id: str
    gpus_per_worker: int
    workers: int
    standing: WorkersByNode = ()

    @property
    def missing(self) -> int:
        return max(self.workers - sum(count for _, count in self.standing), 0)


def place(nodes: Sequence[Node], seats: Sequence[Seats]) -> Mapping[str, WorkersByNode | None]:
    """Workers by node for every job; None where free GPUs are too scattered for whole workers.

    Those that stay or shrink are placed before those that need room, and those with the largest
    workers, then the most, before the others. The order of `seats` does not matter.
    """
    free = {node.name: node.gpus for node in nodes}
    is_open = {node.name: node.is_schedulable for node in nodes}
    kept = {seat.job_id: _keep(seat, is_open) for seat in seats}
    for seat in seats:
        for node, count in kept[seat.job_id].items():
            free[node] -= count * seat.gpus_per_worker
    room = {name: gpus for name, gpus in free.items() if is_open[name]}
    hard_first = sorted(seats, key=lambda s: (-s.gpus_per_worker, -s.missing, s.job_id))
    return {seat.job_id: _add(seat, kept[seat.job_id], room) for seat in hard_first}


def _keep(seat: Seats, is_open: Mapping[str, bool]) -> dict[str, int]:
    standing = dict(seat.standing)
    surplus = sum(standing.values()) - seat.workers
    for node in sorted(standing, key=lambda name: (is_open[name], standing[name], name)):
        leaving = min(max(surplus, 0), standing[node])
        standing[node] -= leaving
        surplus -= leaving
    return {node: count for node, count in standing.items() if count}


def _add(seat: Seats, kept: dict[str, int], room: dict[str, int]) -> WorkersByNode | None:
    """Seat the missing workers and take their GPUs out of `room`; None changes nothing."""
    missing, added = seat.missing, dict[str, int]()
    while missing:
        node = _next_node(seat, {**kept, **added}, room, added, missing)
        if node is None:
            return None
        fitting = _fits(room, node, seat) - added.get(node, 0)
        added[node] = added.get(node, 0) + min(fitting, missing)
        missing -= min(fitting, missing)
    for node, count in added.items():
        room[node] -= count * seat.gpus_per_worker
    together = {node: kept.get(node, 0) + added.get(node, 0) for node in {**kept, **added}}
    return tuple(sorted(together.items()))


def _next_node(
    seat: Seats,
    own: Mapping[str, int],
    room: Mapping[str, int],
    added: Mapping[str, int],
    missing: int,
) -> str | None:
    fitting = {node: _fits(room, node, seat) - added.get(node, 0) for node in room}
    candidates = [node for node, count in fitting.items() if count > 0]
    takes_all = [node for node in candidates if fitting[node] >= missing]
    if takes_all:
        return min(takes_all, key=lambda node: (node not in own, fitting[node], node))
    return min(candidates, key=lambda node: (node not in own, -fitting[node], node), default=None)


def _fits(room: Mapping[str, int], node: str, seat: Seats) -> int:
    return room[node] // seat.gpus_per_worker
