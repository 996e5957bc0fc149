"""Which workers would have to move so that a job fits? As few and as cheap as possible.

A worker of g GPUs needs g free GPUs on one node: a *slot*. A node that lacks a few GPUs for one
more slot gains it when a small enough share of another job moves to a node where it fills a gap
that is no slot anyway. Only whole shares of a node move, so that nobody spans more nodes than
before.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final

from autoscaler.planning.placement.fragmentation import Relocation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from autoscaler.planning.placement.room import Room

MOST_RELOCATIONS: Final = 3  # guessed: beyond, waiting is better than so much motion


@dataclass(frozen=True, slots=True, kw_only=True)
class MovableShare:
    """The workers of one movable job on one node. `cost` is that of moving any of the job's."""

    job_id: str
    node: str
    workers: int
    gpus_per_worker: int
    cost: float

    @property
    def gpus(self) -> int:
        return self.workers * self.gpus_per_worker


def relocations_for(
    workers: int, gpus_per_worker: int, *, room: Room, shares: Sequence[MovableShare]
) -> tuple[Relocation, ...] | None:
    """Moves after which the workers fit, carried out in `room`; None, and nothing changed: none.

    Greedy: the cheapest slot first, one after the other. It finds a way for every lacking slot
    that one or two shares of a node can free, which is not every way there is.
    """
    found: list[tuple[MovableShare, str]] = []
    while room.capacity(gpus_per_worker) < workers:
        left = [share for share in shares if all(share is not moved for moved, _ in found)]
        step = _cheapest_slot(room, left, gpus_per_worker)
        if step is None or len(found) + len(step) > MOST_RELOCATIONS:
            _undo(room, found)
            return None
        found += step
    return tuple(
        Relocation(job_id=share.job_id, workers=share.workers, from_node=share.node, to_node=target)
        for share, target in found
    )


def _cheapest_slot(
    room: Room, shares: Iterable[MovableShare], slot: int
) -> list[tuple[MovableShare, str]] | None:
    by_node: defaultdict[str, list[MovableShare]] = defaultdict(list)
    for share in shares:
        by_node[share.node].append(share)
    for leaving in sorted(_freeing_a_slot(room, by_node, slot), key=_cost):
        targets = _move_all(room, leaving, slot)
        if targets is not None:
            return list(zip(leaving, targets, strict=True))
    return None


def _freeing_a_slot(
    room: Room, by_node: Mapping[str, list[MovableShare]], slot: int
) -> Iterator[tuple[MovableShare, ...]]:
    for node, there in by_node.items():
        lacking = slot - room.free(node) % slot
        for count in (1, 2):
            for leaving in combinations(there, count):
                if sum(share.gpus for share in leaving) >= lacking:
                    yield leaving


def _cost(leaving: tuple[MovableShare, ...]) -> tuple[float, int, str, tuple[str, ...]]:
    return (
        sum(share.cost for share in leaving),
        sum(share.gpus for share in leaving),
        leaving[0].node,
        tuple(share.job_id for share in leaving),
    )


def _move_all(room: Room, leaving: tuple[MovableShare, ...], slot: int) -> list[str] | None:
    moved: list[tuple[MovableShare, str]] = []
    for share in leaving:
        target = _gap(room, share, slot)
        if target is None:
            _undo(room, moved)
            return None
        room.take({target: share.workers}, share.gpus_per_worker)
        room.give_back({share.node: share.workers}, share.gpus_per_worker)
        moved.append((share, target))
    return [target for _, target in moved]


def _gap(room: Room, share: MovableShare, slot: int) -> str | None:
    """The tightest node where the share takes no slot away."""
    for node in room.tightest(share.gpus):
        takes_none = room.free(node) // slot == (room.free(node) - share.gpus) // slot
        if node != share.node and takes_none:
            return node
    return None


def _undo(room: Room, moved: Iterable[tuple[MovableShare, str]]) -> None:
    for share, target in moved:
        room.take({share.node: share.workers}, share.gpus_per_worker)
        room.give_back({target: share.workers}, share.gpus_per_worker)
