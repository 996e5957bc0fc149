"""What waits warm on which node? As the control loop saw it last, for people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cluster.models import WarmPool
from cluster.worker_host import WarmStock


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmNode:
    """One node's share of a warm pool."""

    node: str
    warm: int
    note: str


def warm_nodes(warm_pool: WarmPool) -> list[WarmNode]:
    """By node."""
    observed: Mapping[str, Mapping[str, int | str]] = warm_pool.observed
    return [
        WarmNode(node=node, warm=int(seen["warm"]), note=str(seen["note"]))
        for node, seen in sorted(observed.items())
    ]


def lines_by_node(warm_pools: Iterable[WarmPool], *, with_notes: bool) -> dict[str, str]:
    """Such as `2 of 2 warm`, or `1 of 2 warm: starting`; nodes of no warm pool are left out.

    Notes may name images and quote what containers said: they are for admins.
    """
    sizes: defaultdict[str, int] = defaultdict(int)
    warm: defaultdict[str, int] = defaultdict(int)
    notes: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for warm_pool in warm_pools:
        for seen in warm_nodes(warm_pool):
            sizes[seen.node] += warm_pool.size
            warm[seen.node] += seen.warm
            notes[seen.node].update({seen.note: None} if with_notes and seen.note else {})
    return {
        node: f"{warm[node]} of {size} warm" + "".join(f": {note}" for note in notes[node])
        for node, size in sizes.items()
    }


def write_down(warm_pool: WarmPool, stocks: Iterable[WarmStock]) -> None:
    """Once for each change."""
    observed = {stock.node: {"warm": stock.warm, "note": stock.note} for stock in stocks}
    if observed != warm_pool.observed:
        WarmPool.objects.filter(pk=warm_pool.pk).update(observed=observed)
