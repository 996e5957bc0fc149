"""Where does each worker sit, and which seats are free? A seat is a worker's place on a node."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from cluster.models import Node

from jobs.models import GpuClaim, Job
from jobs.queries.stragglers import Said, believed_gpus, said_of_gpus


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """One worker on one node, by its name."""

    worker_id: str
    node: str
    gpus: int


def arranged(worker_ids: Sequence[str], nodes: Iterator[str], gpus: int) -> list[Seat]:
    """Seat the workers on the nodes, one after the other."""
    return [
        Seat(worker_id=worker_id, node=node, gpus=gpus)
        for worker_id, node in zip(worker_ids, nodes, strict=True)
    ]


class FreeSeats:
    """Which GPUs of some nodes are free, read when it is first asked.

    Those of a node that somebody changes at that moment are not, if they are to be held: until the
    end of the transaction nobody takes GPUs away, or moves the node.
    """

    def __init__(self, names: Collection[str], *, now: datetime, holds: bool = False) -> None:
        self._names, self._now, self._holds = names, now, holds

    def choose(
        self, job: Job, seats: Collection[Seat]
    ) -> list[tuple[Seat, Node, list[int]]] | None:
        """Take the GPUs for each seat; None: not every seat is free, or a node does not answer.

        A node that is in another pool by now has none for the job.

        GPUs of workers that were slow lately are taken where there are no others, whatever their
        index: slots may share a GPU.
        """
        left = {name: self._free[node.id] for name, node in self._nodes.items()}
        slow = self._slow(job.team_id)
        places: list[tuple[Seat, Node, list[int]]] = []
        for seat in seats:
            node, indices = self._nodes.get(seat.node), left.get(seat.node, [])
            if node is None or node.pool_id != job.pool_id or len(indices) < seat.gpus:
                return None
            fine = [index for index in indices if (node.name, node.cuda_name(index)) not in slow]
            taken = neighbouring(fine if len(fine) >= seat.gpus else indices, seat.gpus)
            left[node.name] = [index for index in indices if index not in taken]
            places.append((seat, node, taken))
        for seat, node, _ in places:
            self._free[node.id] = left[seat.node]
        return places

    @cached_property
    def _nodes(self) -> dict[str, Node]:
        nodes = Node.objects.filter(name__in=self._names, silent_since=None)
        if self._holds:
            nodes = nodes.select_for_update(no_key=True, skip_locked=True)
        return {node.name: node for node in nodes}

    @cached_property
    def _free(self) -> dict[int, list[int]]:
        return free_gpus([node.id for node in self._nodes.values()])

    @cached_property
    def _said_to_be_slow(self) -> Collection[Said]:
        return said_of_gpus(self._now)

    def _slow(self, team: int) -> set[tuple[str, str]]:
        """Return those that are slow, by what the driver calls them."""
        found = believed_gpus(self._said_to_be_slow, team=team)
        return {
            (name, self._nodes[name].cuda_name(index))
            for name, index in found
            if name in self._nodes
        }


def are_free(job: Job, seats: Collection[Seat], *, now: datetime) -> bool:
    """True if all these seats can be taken at this moment."""
    return FreeSeats({seat.node for seat in seats}, now=now).choose(job, seats) is not None


def neighbouring(free: Sequence[int], count: int) -> list[int]:
    """Choose so many of the free GPUs, given in order: side by side, in the tightest gap if any.

    GPUs with neighbouring numbers usually share the fast links of a machine.
    """
    gaps: list[list[int]] = []
    for index in free:
        if gaps and gaps[-1][-1] == index - 1:
            gaps[-1].append(index)
        else:
            gaps.append([index])
    fitting = [gap for gap in gaps if len(gap) >= count]
    return min(fitting, key=len)[:count] if fitting else list(free[:count])


def free_gpus(node_ids: Collection[int]) -> dict[int, list[int]]:
    """Indices of the GPUs nobody claims, by node."""
    totals = Node.objects.filter(pk__in=node_ids).values_list("id", "gpus")
    claimed = set(GpuClaim.objects.filter(node__in=node_ids).values_list("node_id", "gpu_index"))
    return {
        node_id: [index for index in range(gpus) if (node_id, index) not in claimed]
        for node_id, gpus in totals
    }
