"""What is free on which node? Kept sorted, so that a fitting node is found without a search.

Nodes are filed by their number of free GPUs, which is small: the tightest node that takes a job is
the first in the first file that is not empty, however many nodes there are.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from autoscaler.planning.cluster_state import Node


class Room:
    """Free GPUs of the nodes that take new workers, and which of them a distributed job is on.

    A job is *distributed* when it spans nodes: its gradients cross the network, and two such jobs
    on one node slow each other down. Closed nodes have no room, whatever is given back there.
    """

    __slots__ = ("_distributed", "_files", "_free", "_most")

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._free = {node.name: node.gpus for node in nodes if node.is_schedulable}
        self._most = max(self._free.values(), default=0)
        self._files: list[list[str]] = []  # made when somebody first asks for a place
        self._distributed = Counter[str]()

    def is_open(self, node: str) -> bool:
        return node in self._free

    def free(self, node: str) -> int:
        """Never below 0, even where more is held than there is."""
        return max(self._free.get(node, 0), 0)

    def take(self, workers_by_node: Mapping[str, int], gpus_per_worker: int) -> None:
        """Seat workers; those on closed nodes take no room."""
        for node, workers in workers_by_node.items():
            self._change(node, -workers * gpus_per_worker)
        self._count_distributed(workers_by_node, 1)

    def give_back(self, workers_by_node: Mapping[str, int], gpus_per_worker: int) -> None:
        """Undo `take` of the same workers."""
        for node, workers in workers_by_node.items():
            self._change(node, workers * gpus_per_worker)
        self._count_distributed(workers_by_node, -1)

    def has_distributed(self, node: str) -> bool:
        return self._distributed[node] > 0

    def tightest(self, gpus: int) -> Iterator[str]:
        """Nodes with at least so many free GPUs, those with fewest first, then by name."""
        for filed in self._filed[gpus:]:
            yield from filed

    def widest(self, gpus_per_worker: int) -> Iterator[tuple[str, int]]:
        """(node, workers that fit), most workers first, then those that waste least, then names."""
        largest = self._most
        for fitting in range(largest // gpus_per_worker, 0, -1):
            gpus = fitting * gpus_per_worker
            for filed in self._filed[gpus : gpus + gpus_per_worker]:
                yield from ((name, fitting) for name in filed)

    def free_by_node(self) -> tuple[tuple[str, int], ...]:
        """Every node with a free GPU, most first, then by name."""
        return tuple(
            (name, gpus)
            for gpus in range(len(self._filed) - 1, 0, -1)
            for name in self._filed[gpus]
        )

    def capacity(self, gpus_per_worker: int) -> int:
        """How many workers of this size fit, all nodes together."""
        return sum((gpus // gpus_per_worker) * len(filed) for gpus, filed in enumerate(self._filed))

    @property
    def _filed(self) -> list[list[str]]:
        """Names of nodes, by their number of free GPUs."""
        if not self._files:
            self._files = [[] for _ in range(self._most + 1)]
            for name in sorted(self._free):
                self._files[self.free(name)].append(name)
        return self._files

    def _change(self, node: str, gpus: int) -> None:
        if node not in self._free:
            return
        if self._files:
            old = self._files[self.free(node)]
            del old[bisect_left(old, node)]
            insort(self._files[max(self._free[node] + gpus, 0)], node)
        self._free[node] += gpus

    def _count_distributed(self, workers_by_node: Mapping[str, int], change: int) -> None:
        if len(workers_by_node) > 1:
            for node in workers_by_node:
                self._distributed[node] += change
