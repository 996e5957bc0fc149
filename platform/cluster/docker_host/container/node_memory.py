"""How much memory may a container have? At most its share of its node's.

Without that cap one job could take a node's last memory, and the kernel would choose its victims
among all that runs there: the service, its database, jobs of other teams.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import Final

from cluster.docker_host.connection.connections import Connections, talking_to
from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.machine import share_of
from cluster.worker_host import Launch

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class NodeMemory:
    """Remembers what daemons told of their machines; asks each once."""

    connections: Connections
    _totals: dict[DaemonEndpoint, int] = field(default_factory=dict)

    def bounded(self, launch: Launch, endpoint: DaemonEndpoint) -> Launch:
        """Return the launch with a limit of memory in any case. Raises: HostUnavailable."""
        wanted = launch.limits.memory_bytes
        share = share_of(self.total(endpoint), launch.limits.node_share)
        if wanted is not None and wanted <= share:
            return launch
        if wanted is not None:
            _log.warning(
                "%s asks for %d bytes and gets its share of node %s, %d.",
                *(launch.labels.process_id, wanted, launch.node, share),
                extra={"action": "bound_memory", "job_id": launch.labels.job_id},
            )
        return replace(launch, limits=replace(launch.limits, memory_bytes=share))

    def total(self, endpoint: DaemonEndpoint) -> int:
        """Return the machine's memory, in bytes. Raises: HostUnavailable."""
        if endpoint not in self._totals:
            with talking_to(endpoint):
                info = self.connections.quick(endpoint).info()
            self._totals[endpoint] = info["MemTotal"]
        return self._totals[endpoint]
