"""What do the workers on a node take? Its daemon reads their control groups (cgroups).

Which GPUs are how busy no daemon tells: a container of ours does that keeps asking the driver by
`nvidia-smi`, the command line of NVIDIA's management library, and writes the answers to its log.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import docker.errors

from cluster.docker_host.connection.connections import Client, Connections, asking
from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.docker_host.container import labels
from cluster.docker_host.gpu_teller import GpuTeller
from cluster.usage.readings import NodeReading, ProcessUse
from cluster.worker_host import ProcessRole

_NANOSECONDS: Final = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class DockerGauge:
    """Reads what workers take of the nodes of one installation."""

    installation: str
    connections: Connections
    gpu_teller: GpuTeller
    clock: Callable[[], float] = time.monotonic

    def read(self, node: str, endpoint: DaemonEndpoint) -> NodeReading:
        """Raises: HostUnavailable."""
        with asking(endpoint):
            client = self.connections.quick(endpoint)
            wanted = {
                "label": [*labels.of_all_jobs(self.installation), f"{labels.NODE}={node}"],
                "status": ["running"],
            }
            processes = {
                who.process_id: use
                for row in client.containers(filters=wanted)
                if (who := labels.read(row["Labels"])) and who.role is ProcessRole.WORKER
                if (use := _use(client, row["Id"]))
            }
            at_seconds = self.clock()
        return NodeReading(
            at_seconds=at_seconds,
            processes=processes,
            gpus=self.gpu_teller.read(endpoint) if processes else {},
        )


def _use(client: Client, container: str) -> ProcessUse | None:
    """None of one that has just ended, or whose daemon does not know."""
    try:
        stats: Mapping[str, Any] = client.stats(container, stream=False, one_shot=True)
        memory = stats["memory_stats"]
        # Files that the kernel could forget at any moment are nobody's memory.
        idle_files = memory.get("stats", {}).get("inactive_file", 0)
        return ProcessUse(
            cpu_seconds=stats["cpu_stats"]["cpu_usage"]["total_usage"] / _NANOSECONDS,
            memory_bytes=max(memory["usage"] - idle_files, 0),
        )
    except (docker.errors.APIError, KeyError):
        return None
