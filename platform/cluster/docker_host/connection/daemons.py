"""Which Docker daemons are there, and which of them answer?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from cluster.docker_host.connection.connections import Client, Connections, asking
from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.worker_host import HostUnavailable

T = TypeVar("T")
_MOST_AT_ONCE: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers(Generic[T]):
    """What all daemons said to one question."""

    by_endpoint: Mapping[DaemonEndpoint, T]  # of those that answered
    silent_nodes: Mapping[str, str]  # whose daemons did not, and why


@dataclass(frozen=True, slots=True, kw_only=True)
class Daemons:
    """The daemons of all nodes. Several nodes may share one, which is asked only once."""

    endpoints: Callable[[], Mapping[str, DaemonEndpoint]]  # by node
    connections: Connections

    def all(self) -> tuple[DaemonEndpoint, ...]:
        return tuple(dict.fromkeys(self.endpoints().values()))

    def of(self, node: str | None) -> tuple[DaemonEndpoint, ...]:
        """Return where containers of this node are; all daemons, if nobody knows such a node.

        Raises:
            HostUnavailable: there is no daemon, so nobody can tell what became of them.
        """
        by_node = self.endpoints()
        if not by_node:
            raise HostUnavailable(f"No Docker daemon is known, nor where node {node} is.")
        endpoint = by_node.get(node or "")
        return tuple(dict.fromkeys(by_node.values())) if endpoint is None else (endpoint,)

    def ask_all(self, question: Callable[[DaemonEndpoint, Client], T]) -> Answers[T]:
        """Put a question to all, side by side, and hear those that answer quickly.

        Raises:
            HostUnavailable: there are daemons, and none answers.
        """
        by_node = self.endpoints()
        distinct = tuple(dict.fromkeys(by_node.values()))
        if not distinct:
            return Answers(by_endpoint={}, silent_nodes={})
        with ThreadPoolExecutor(min(len(distinct), _MOST_AT_ONCE)) as pool:
            said = pool.map(lambda endpoint: self._ask(endpoint, question), distinct)
            by_endpoint = dict(zip(distinct, said, strict=True))
        answers = {e: it for e, it in by_endpoint.items() if not isinstance(it, HostUnavailable)}
        silent = {node: str(by_endpoint[e]) for node, e in by_node.items() if e not in answers}
        if not answers:
            raise HostUnavailable("; ".join(map(str, by_endpoint.values())), silent_nodes=silent)
        return Answers(by_endpoint=answers, silent_nodes=silent)

    def _ask(
        self, endpoint: DaemonEndpoint, question: Callable[[DaemonEndpoint, Client], T]
    ) -> T | HostUnavailable:
        try:
            client = self.connections.quick(endpoint)
            with asking(endpoint):
                return question(endpoint, client)
        except HostUnavailable as problem:
            self.connections.forget(endpoint)
            return problem
