"""Where does each worker sit, and which seats are free? A seat is a worker's place on a node."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from cluster.models import Node

from jobs.models import GpuClaim, Job
from jobs.queries.stragglers import slow_gpus


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


def chosen(
    job: Job, seats: Collection[Seat], *, now: datetime
) -> list[tuple[Seat, Node, list[int]]] | None:
    """The GPUs for each seat; None: not every seat is free, or a node does not answer.

    GPUs of workers that were slow lately are taken where there are no others, whatever their index:
    slots may share a GPU.
    """
    names = {seat.node for seat in seats}
    nodes = {n.name: n for n in Node.objects.filter(name__in=names, silent_since=None)}
    free = free_gpus([node.id for node in nodes.values()])
    found = slow_gpus(now, team=job.team_id)
    slow = {(name, nodes[name].cuda_name(index)) for name, index in found if name in nodes}
    places: list[tuple[Seat, Node, list[int]]] = []
    for seat in seats:
        node = nodes.get(seat.node)
        indices = free.get(node.id, []) if node else []
        if node is None or len(indices) < seat.gpus:
            return None
        fine = [index for index in indices if (node.name, node.cuda_name(index)) not in slow]
        taken = neighbouring(fine if len(fine) >= seat.gpus else indices, seat.gpus)
        free[node.id] = [index for index in indices if index not in taken]
        places.append((seat, node, taken))
    return places


def neighbouring(free: Sequence[int], count: int) -> list[int]:
    """So many of the free GPUs, given in order: side by side, in the tightest gap, if there is one.

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
