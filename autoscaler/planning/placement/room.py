"""What is free on which node? Kept sorted, so that a fitting node is found without a search.

Nodes are filed by their number of free GPUs, which is small: the tightest node that takes a job is
the first in the first file that is not empty, however many nodes there are. Those with distributed
jobs are filed apart, as the others come first wherever workers have to be spread.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from heapq import merge
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from autoscaler.planning.cluster_state import Node
    from autoscaler.planning.placement.seats import WorkersByNode

    Files = list[list[str]]  # names of nodes, by their number of free GPUs


class Room:
    """Free GPUs of the nodes that take new workers, and which of them a distributed job is on.

    A job is *distributed* when it spans nodes: its gradients cross the network, and two such jobs
    on one node slow each other down. A node without any is *quiet*. Closed nodes have no room,
    whatever is given back there.
    """

    __slots__ = ("_distributed", "_free", "_is_filed", "_most", "_quiet", "_shared")

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._free = {node.name: node.gpus for node in nodes if node.is_schedulable}
        self._most = max(self._free.values(), default=0)
        self._distributed = defaultdict[str, int](int)  # how many of them, by node
        self._is_filed = False  # until somebody first asks for a place
        self._quiet: Files = []
        self._shared: Files = []

    @classmethod
    def beside(cls, nodes: Iterable[Node], standing: Iterable[tuple[WorkersByNode, int]]) -> Self:
        """What is free beside workers of so many GPUs each."""
        room = cls(nodes)
        for workers_by_node, gpus_per_worker in standing:
            room.take(dict(workers_by_node), gpus_per_worker)
        return room

    def copy(self) -> Self:
        self._file_all()
        twin = type(self)(())
        twin._free, twin._most, twin._is_filed = self._free.copy(), self._most, True
        twin._distributed = self._distributed.copy()
        twin._quiet, twin._shared = _copied(self._quiet), _copied(self._shared)
        return twin

    def is_open(self, node: str) -> bool:
        return node in self._free

    def free(self, node: str) -> int:
        """Never below 0, even where more is held than there is."""
        return max(self._free.get(node, 0), 0)

    def take(self, workers_by_node: Mapping[str, int], gpus_per_worker: int) -> None:
        """Seat workers; those on closed nodes take no room."""
        is_distributed = len(workers_by_node) > 1
        for node, workers in workers_by_node.items():
            self._change(node, -workers * gpus_per_worker, int(is_distributed))

    def give_back(self, workers_by_node: Mapping[str, int], gpus_per_worker: int) -> None:
        """Undo `take` of the same workers."""
        is_distributed = len(workers_by_node) > 1
        for node, workers in workers_by_node.items():
            self._change(node, workers * gpus_per_worker, -int(is_distributed))

    def has_distributed(self, node: str) -> bool:
        return self._distributed.get(node, 0) > 0

    def tightest(self, gpus: int) -> Iterator[str]:
        """Nodes with at least so many free GPUs, those with fewest first, then by name."""
        self._file_all()
        for quiet, shared in zip(self._quiet[gpus:], self._shared[gpus:], strict=True):
            yield from merge(quiet, shared)

    def tightest_quiet(self, gpus: int) -> Iterator[str]:
        self._file_all()
        for quiet in self._quiet[gpus:]:
            yield from quiet

    def widest_quiet(self, gpus_per_worker: int) -> Iterator[tuple[str, int]]:
        """(node, workers that fit), most workers first, then those that waste least, then names."""
        self._file_all()
        return _widest(self._quiet, gpus_per_worker)

    def widest_shared(self, gpus_per_worker: int) -> Iterator[tuple[str, int]]:
        """The same, of the nodes with distributed jobs."""
        self._file_all()
        return _widest(self._shared, gpus_per_worker)

    def most_together(self, gpus_per_worker: int) -> int:
        """How many workers of this size fit on the node that takes most."""
        self._file_all()
        most = self._most
        while most > 0 and not (self._quiet[most] or self._shared[most]):
            most -= 1
        return most // gpus_per_worker

    def free_by_node(self) -> tuple[tuple[str, int], ...]:
        """Every node with a free GPU, most first, then by name."""
        self._file_all()
        return tuple(
            (name, gpus)
            for gpus in range(self._most, 0, -1)
            for name in merge(self._quiet[gpus], self._shared[gpus])
        )

    def capacity(self, gpus_per_worker: int) -> int:
        """How many workers of this size fit, all nodes together."""
        return sum(max(gpus, 0) // gpus_per_worker for gpus in self._free.values())

    def _file_all(self) -> None:
        if self._is_filed:
            return
        self._quiet = [[] for _ in range(self._most + 1)]
        self._shared = [[] for _ in range(self._most + 1)]
        for name in sorted(self._free):
            self._file_of(name).append(name)
        self._is_filed = True

    def _file_of(self, node: str) -> list[str]:
        files = self._shared if self.has_distributed(node) else self._quiet
        return files[max(self._free[node], 0)]

    def _change(self, node: str, gpus: int, distributed: int) -> None:
        is_filed = self._is_filed and node in self._free
        if is_filed:
            file = self._file_of(node)
            del file[bisect_left(file, node)]
        if node in self._free:
            self._free[node] += gpus
        if distributed:
            self._distributed[node] += distributed
        if is_filed:
            insort(self._file_of(node), node)


def _copied(files: Files) -> Files:
    return [file.copy() for file in files]


def _widest(files: Files, gpus_per_worker: int) -> Iterator[tuple[str, int]]:
    for fitting in range((len(files) - 1) // gpus_per_worker, 0, -1):
        gpus = fitting * gpus_per_worker
        for file in files[gpus : gpus + gpus_per_worker]:
            yield from ((name, fitting) for name in file)
