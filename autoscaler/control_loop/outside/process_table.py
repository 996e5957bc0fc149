"""Which processes does the worker host have? One list per tick, kept up with what the tick does.

Only a tick that nobody has overtaken orders anything.

A node that stops answering after the list costs a tick its patience once, not once for each order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext

from cluster.worker_host import (
    HostUnavailable,
    Launch,
    LogLine,
    NodeImage,
    ObservedProcess,
    ProcessPhase,
    WorkerHost,
)

from autoscaler.control_loop.lease.orders import FencedOrders


class ProcessTable(Mapping[str, ObservedProcess]):
    """The host's processes by id, as they were when the tick began; all orders go through it."""

    def __init__(self, host: WorkerHost, orders: FencedOrders) -> None:
        """Ask the host. Raises: HostUnavailable."""
        self._host = host
        self._orders = orders
        listing = host.list()
        self._by_id = listing.by_id()
        self.silent_nodes = dict(listing.silent_nodes)  # and why; their processes are not listed
        self._started: set[str] = set()
        self._is_giving = False

    def __getitem__(self, process_id: str) -> ObservedProcess:
        return self._by_id[process_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_id)

    def __len__(self) -> int:
        return len(self._by_id)

    def is_being_started(self, process_id: str) -> bool:
        """This tick has started it; it is not listed before the next."""
        return process_id in self._started

    def is_running(self, process_id: str) -> bool:
        process = self._by_id.get(process_id)
        return process is not None and process.phase is ProcessPhase.RUNNING

    def start(self, *launches: Launch) -> None:
        """See the port."""
        self._started.update(launch.labels.process_id for launch in launches)
        with self._ordering(*(launch.node for launch in launches)):
            self._host.start(*launches)

    def stop(self, process_id: str, *, grace_seconds: float) -> None:
        """See the port."""
        with self._ordering(*self._node_of(process_id)):
            self._host.stop(process_id, grace_seconds=grace_seconds)

    def forget(self, process_id: str) -> None:
        """See the port."""
        with self._ordering(*self._node_of(process_id)):
            self._host.forget(process_id)
        self._by_id.pop(process_id, None)

    def fetch_ahead(self, *wanted: NodeImage) -> Mapping[NodeImage, str]:
        """See the port."""
        with self._orders.giving():
            return self._host.fetch_ahead(*wanted)

    def last_lines(self, process_id: str, count: int, *, job_id: str) -> tuple[LogLine, ...]:
        """The end of what it wrote."""
        return tuple(self._host.logs((process_id,), job_id=job_id, tail=count))

    @contextmanager
    def together(self) -> Iterator[None]:
        """Give several orders after one look at the lease; nothing else may come between them.

        Raises:
            LeaseLost: another process holds the lease now.
        """
        with self._orders.giving() as is_alone:
            self._is_giving = is_alone
            try:
                yield
            finally:
                self._is_giving = False

    def _node_of(self, process_id: str) -> tuple[str, ...]:
        """None, if it is not listed."""
        process = self._by_id.get(process_id)
        return () if process is None else (process.node,)

    @contextmanager
    def _ordering(self, *nodes: str) -> Iterator[None]:
        if silent := {node: self.silent_nodes[node] for node in nodes if node in self.silent_nodes}:
            raise HostUnavailable("; ".join(silent.values()), silent_nodes=silent)
        try:
            with nullcontext() if self._is_giving else self._orders.giving():
                yield
        except HostUnavailable as problem:
            self.silent_nodes.update(problem.silent_nodes)
            raise
