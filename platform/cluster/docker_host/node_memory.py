"""How much memory may a container have whose launch names no limit? A share of its node's.

Without any limit one job could take a node's last memory, and the kernel would choose its victims
among all that runs there: the service, its database, jobs of other teams.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from cluster.docker_host.connections import Connections, talking_to
from cluster.docker_host.endpoint import Endpoint
from cluster.worker_host import Launch

_RESERVED_PART: Final = 0.1  # guessed: for the system, coordinators and the platform itself,
_MOST_RESERVED: Final = 16 << 30  # of which a large machine has no more than a middling one
_LEAST_SHARE: Final = 1 << 30  # where slots outnumber the memory: PyTorch alone takes a third of it


@dataclass(frozen=True, slots=True)
class NodeMemory:
    """What daemons told of their machines; asked once."""

    connections: Connections
    _totals: dict[Endpoint, int] = field(default_factory=dict)

    def bounded(self, launch: Launch, endpoint: Endpoint) -> Launch:
        """With a limit of memory in any case. Raises: HostUnavailable."""
        if launch.limits.memory_bytes is not None:
            return launch
        share = share_of(self.total(endpoint), launch.limits.node_share)
        return replace(launch, limits=replace(launch.limits, memory_bytes=share))

    def total(self, endpoint: Endpoint) -> int:
        """Of the machine, in bytes. Raises: HostUnavailable."""
        if endpoint not in self._totals:
            with talking_to(endpoint):
                info = self.connections.quick(endpoint).info()
            self._totals[endpoint] = info["MemTotal"]
        return self._totals[endpoint]


def share_of(total: int, share: float) -> int:
    """This share of what is left without the reserve; never too little to train in."""
    reserved = min(total * _RESERVED_PART, _MOST_RESERVED)
    return min(max(int((total - reserved) * share), _LEAST_SHARE), total)
