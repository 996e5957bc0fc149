"""Where is the Docker daemon of each node? As the nodes' rows tell, or else the settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from django.db import InterfaceError, OperationalError, connection

from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.models import Node
from cluster.worker_host import HostUnavailable


@dataclass(slots=True, kw_only=True)
class DockerNodes:
    """Asked again and again, by several threads; an admin may change a node at any time."""

    default_url: str
    certificates: Path | None  # holds a folder for each node that is reached by TLS
    _last: Mapping[str, DaemonEndpoint] | None = None  # nobody told yet

    def __call__(self) -> Mapping[str, DaemonEndpoint]:
        """Return them by the node's name; while the database is away, as they were read last.

        A thread that only watches has nobody else who would see to its connection.

        Raises:
            HostUnavailable: it was never told; that there are no nodes would be another answer.
        """
        try:
            rows = list(Node.objects.values_list("name", "host_url"))
        except (OperationalError, InterfaceError) as problem:
            if connection.in_atomic_block:
                raise
            connection.close()
            if self._last is None:
                raise HostUnavailable(f"The nodes are not known yet: {problem}") from problem
            return self._last
        self._last = {name: self._endpoint(name, url or self.default_url) for name, url in rows}
        return self._last

    def _endpoint(self, node: str, url: str) -> DaemonEndpoint:
        if self.certificates is None or not url.startswith("tcp://"):
            return DaemonEndpoint(url=url)
        return DaemonEndpoint(url=url, certificates=self.certificates / node)
