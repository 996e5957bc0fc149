"""What is free on which node? Kept sorted, so that a fitting node is found without a search.

Nodes are filed by their number of free GPUs, which is small: the tightest node that takes a job is
the first in the first file that is not empty, however many nodes there are. Those with distributed
jobs are filed apart, as the others come first wherever workers have to be spread.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from dataclasses import dataclass
from heapq import merge
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from autoscaler.planning.placement.seats import WorkersByNode
    from autoscaler.planning.snapshot.cluster_state import PlannedNode

Files = list[list[str]]  # names of nodes, by their number of free GPUs


@dataclass(slots=True, eq=False)
class Room:
    """Free GPUs of the nodes that take new workers, and which of them a distributed job is on.

    A job is *distributed* when it spans nodes: its gradients cross the network, and two such jobs
    on one node slow each other down. A node without any is *quiet*. Closed nodes have no room,
    whatever is given back there.
    """

    _free: dict[str, int]
    _distributed: defaultdict[str, int]  # how many of them, by node
    _quiet: Files
    _shared: Files

    @classmethod
    def of(
        cls, nodes: Iterable[PlannedNode], placements: Iterable[tuple[WorkersByNode, int]] = ()
    ) -> Self:
        """Return what is free beside workers of so many GPUs each."""
        free = {node.name: node.gpus for node in nodes if node.is_schedulable}
        files = range(max(free.values(), default=0) + 1)
        distributed = defaultdict[str, int](int)
        for workers_by_node, gpus_per_worker in placements:
            for node, workers in workers_by_node:
                if node in free:
                    free[node] -= workers * gpus_per_worker
                    distributed[node] += len(workers_by_node) > 1
        room = cls(free, distributed, [[] for _ in files], [[] for _ in files])
        for name in sorted(free):
            room._file_of(name).append(name)
        return room

    def copy(self) -> Self:
        files = ([file.copy() for file in files] for files in (self._quiet, self._shared))
        return type(self)(self._free.copy(), self._distributed.copy(), *files)

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
        for quiet, shared in zip(self._quiet[gpus:], self._shared[gpus:], strict=True):
            yield from merge(quiet, shared) if shared else quiet

    def tightest_quiet(self, gpus: int) -> Iterator[str]:
        for quiet in self._quiet[gpus:]:
            yield from quiet

    def widest_quiet(self, gpus_per_worker: int) -> Iterator[tuple[str, int]]:
        """(node, workers that fit), most workers first, then those that waste least, then names."""
        return _widest(self._quiet, gpus_per_worker)

    def widest_shared(self, gpus_per_worker: int) -> Iterator[tuple[str, int]]:
        """The same, of the nodes with distributed jobs."""
        return _widest(self._shared, gpus_per_worker)

    def most_together(self, gpus_per_worker: int) -> int:
        """Return how many workers of this size fit on the node that takes most."""
        most = len(self._quiet) - 1
        while most > 0 and not (self._quiet[most] or self._shared[most]):
            most -= 1
        return most // gpus_per_worker

    def free_by_node(self) -> tuple[tuple[str, int], ...]:
        """Every node with a free GPU, most first, then by name."""
        return tuple(
            (name, gpus)
            for gpus in range(len(self._quiet) - 1, 0, -1)
            for name in merge(self._quiet[gpus], self._shared[gpus])
        )

    def capacity(self, gpus_per_worker: int) -> int:
        """Return how many workers of this size fit, all nodes together."""
        return sum(max(gpus, 0) // gpus_per_worker for gpus in self._free.values())

    def _file_of(self, node: str) -> list[str]:
        files = self._shared if self.has_distributed(node) else self._quiet
        return files[max(self._free[node], 0)]

    def _change(self, node: str, gpus: int, distributed: int) -> None:
        if node not in self._free:
            return
        file = self._file_of(node)
        del file[bisect_left(file, node)]
        self._free[node] += gpus
        self._distributed[node] += distributed
        insort(self._file_of(node), node)


def _widest(files: Files, gpus_per_worker: int) -> Iterator[tuple[str, int]]:
    for fitting in range((len(files) - 1) // gpus_per_worker, 0, -1):
        gpus = fitting * gpus_per_worker
        for file in files[gpus : gpus + gpus_per_worker]:
            yield from ((name, fitting) for name in file)
