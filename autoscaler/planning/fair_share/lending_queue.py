"""Whose turn is it to borrow?

At each level of the tree of teams, from the pool down, the one that borrows least for its weight:

    (GPUs beyond the guarantee + 1) / weight lowered by usage x 2^(-waited / AGEING_SECONDS)

so a job that has waited for long goes first, whatever its team borrows. Among equals the job of
the highest aged priority.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from autoscaler.planning.fair_share.precedence import AGEING_SECONDS, waited_seconds
from autoscaler.planning.teams.team_tree import POOL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from autoscaler.planning.demand import Demand
    from autoscaler.planning.fair_share.ledger import Ledger
    from autoscaler.planning.teams.team_tree import TeamNode

_Entry = tuple[float, int, str]  # claim, place of the job that would be next, team
_SMALLEST_WEIGHT = 1e-9


class LendingQueue:
    """Waiting jobs in the order of their claims, which change as others are admitted.

    A job costs the depth of the tree times the logarithm of the most siblings.
    """

    def __init__(self, waiting: Iterable[Demand], ledger: Ledger, now: float) -> None:
        self._ledger = ledger
        self._now = now
        self._own: defaultdict[str, deque[tuple[int, Demand]]] = defaultdict(deque)
        for place, demand in enumerate(waiting):
            self._own[demand.job.team].append((place, demand))
        self._heaps: dict[str, list[_Entry]] = {}
        for node in ledger.tree.nodes.values():
            entries = [self._entry_of_own(node), *map(self._entry_of, ledger.tree.children(node))]
            heap = [entry for entry in entries if entry is not None]
            heapify(heap)
            self._heaps[node.name] = heap

    def __iter__(self) -> Iterator[Demand]:
        """Each job once; what happened to the one before is counted before the next is chosen."""
        while self._heaps[POOL]:
            path = self._path_to_next()
            _, demand = self._own[path[-1].name].popleft()
            yield demand
            self._file_again(path)

    def _path_to_next(self) -> list[TeamNode]:
        """The teams from the pool down to the one whose turn it is, taken off their heaps."""
        path = [self._ledger.tree.pool]
        while True:
            _, _, team = heappop(self._heaps[path[-1].name])
            if team == path[-1].name:
                return path
            path.append(self._ledger.tree.nodes[team])

    def _file_again(self, path: list[TeamNode]) -> None:
        entry = self._entry_of_own(path[-1])
        for node in reversed(path):
            if entry is not None:
                heappush(self._heaps[node.name], entry)
            entry = self._entry_of(node)

    def _entry_of(self, node: TeamNode) -> _Entry | None:
        """A subtree among its siblings."""
        head = self._head(node)
        if head is None:
            return None
        beyond = max(self._ledger.room.inside(node) - node.guaranteed, 0)
        weight = self._ledger.usage.weight(node)
        return (self._claim(beyond, weight, head[1]), head[0], node.name)

    def _entry_of_own(self, node: TeamNode) -> _Entry | None:
        """A team's own jobs among its sub-teams."""
        own = self._own.get(node.name)
        if not own:
            return None
        beyond = max(self._ledger.room.own(node.name) - node.own_guaranteed, 0)
        return (self._claim(beyond, 1.0, own[0][1]), own[0][0], node.name)

    def _claim(self, beyond: int, weight: float, head: Demand) -> float:
        periods = waited_seconds(head, self._now) / AGEING_SECONDS
        return (beyond + 1) / max(weight, _SMALLEST_WEIGHT) * math.exp2(-min(periods, 1000.0))

    def _head(self, node: TeamNode) -> tuple[int, Demand] | None:
        """The job the subtree would start next."""
        while True:
            heap = self._heaps.get(node.name)
            if not heap:
                return None
            team = heap[0][2]
            if team == node.name:
                return self._own[team][0]
            node = self._ledger.tree.nodes[team]
