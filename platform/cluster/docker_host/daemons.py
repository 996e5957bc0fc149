"""Which Docker daemons are there, and which of them answer?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final, TypeVar

from cluster.docker_host.connections import Client, Connections, asking
from cluster.docker_host.endpoint import Endpoint
from cluster.worker_host import HostUnavailable

T = TypeVar("T")
_MOST_AT_ONCE: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Daemons:
    """The daemons of all nodes. Several nodes may share one, which is asked only once."""

    endpoints: Callable[[], Mapping[str, Endpoint]]  # by node
    connections: Connections
    _silence: list[Mapping[str, str]] = field(default_factory=lambda: [{}])  # its latest comes last

    def all(self) -> tuple[Endpoint, ...]:
        return tuple(dict.fromkeys(self.endpoints().values()))

    def of(self, node: str | None) -> tuple[Endpoint, ...]:
        """Where containers of this node are; all daemons, if nobody knows such a node.

        Raises:
            HostUnavailable: there is no daemon, so nobody can tell what became of them.
        """
        by_node = self.endpoints()
        if not by_node:
            raise HostUnavailable(f"No Docker daemon is known, nor where node {node} is.")
        endpoint = by_node.get(node or "")
        return tuple(dict.fromkeys(by_node.values())) if endpoint is None else (endpoint,)

    def ask_all(self, question: Callable[[Client], T]) -> dict[Endpoint, T]:
        """The answers of those that answer quickly, all side by side.

        Raises:
            HostUnavailable: there are daemons, and none answers.
        """
        by_node = self.endpoints()
        distinct = tuple(dict.fromkeys(by_node.values()))
        if not distinct:
            return {}
        with ThreadPoolExecutor(min(len(distinct), _MOST_AT_ONCE)) as pool:
            asked = list(pool.map(lambda endpoint: self._ask(endpoint, question), distinct))
        problems = {
            e: said
            for e, said in zip(distinct, asked, strict=True)
            if isinstance(said, HostUnavailable)
        }
        self._silence[:] = [
            {node: str(problems[e]) for node, e in by_node.items() if e in problems}
        ]
        if len(problems) == len(distinct):
            raise HostUnavailable("; ".join(map(str, problems.values())))
        return {
            endpoint: said
            for endpoint, said in zip(distinct, asked, strict=True)
            if not isinstance(said, HostUnavailable)
        }

    def silent_nodes(self) -> Mapping[str, str]:
        """As of the latest `ask_all`."""
        return dict(self._silence[-1])

    def _ask(self, endpoint: Endpoint, question: Callable[[Client], T]) -> T | HostUnavailable:
        try:
            client = self.connections.quick(endpoint)
            with asking(endpoint):
                return question(client)
        except HostUnavailable as problem:
            self.connections.forget(endpoint)
            return problem
