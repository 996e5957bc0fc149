"""Which nodes are up, and who holds their GPUs? Keeps the books and refuses to overbook."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from autoscaler.planning.snapshot.cluster_state import PlannedPool


class OverbookedError(Exception):
    """A plan gave a GPU to two jobs, or one that does not exist."""


@dataclass(slots=True, kw_only=True)
class SimulatedCluster:
    """The pools with their nodes; a node's subject number is its place in `nodes`."""

    pools: tuple[PlannedPool, ...]
    nodes: tuple[tuple[str, str], ...] = ()  # (pool, node)
    _gpus: dict[tuple[str, str], int] = field(default_factory=dict)
    _lost: set[tuple[str, str]] = field(default_factory=set)
    _used: Counter[tuple[str, str]] = field(default_factory=Counter)
    _standing: tuple[PlannedPool, ...] | None = None

    def __post_init__(self) -> None:
        self._gpus = {(p.name, node.name): node.gpus for p in self.pools for node in p.nodes}
        self.nodes = tuple(self._gpus)

    def pools_that_are_up(self) -> tuple[PlannedPool, ...]:
        """The pools with the nodes that are up: the same objects until a node comes or goes."""
        if self._standing is None:
            self._standing = tuple(
                replace(
                    pool,
                    nodes=tuple(n for n in pool.nodes if (pool.name, n.name) not in self._lost),
                )
                for pool in self.pools
            )
        return self._standing

    def lose(self, node: tuple[str, str]) -> None:
        self._lost.add(node)
        self._standing = None

    def repair(self, node: tuple[str, str]) -> None:
        self._lost.discard(node)
        self._standing = None

    def take(self, pool: str, gpus_by_node: Iterable[tuple[str, int]]) -> None:
        for name, gpus in gpus_by_node:
            node = (pool, name)
            self._used[node] += gpus
            there = 0 if node in self._lost else self._gpus.get(node, 0)
            if self._used[node] > there:
                message = f"node {name} of pool {pool} has {there} GPUs, not {self._used[node]}"
                raise OverbookedError(message)

    def give_back(self, pool: str, gpus_by_node: Iterable[tuple[str, int]]) -> None:
        for name, gpus in gpus_by_node:
            self._used[pool, name] -= gpus
