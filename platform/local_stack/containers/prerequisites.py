"""What must be there before a job's first container, and what does the service know of it?"""

from __future__ import annotations

import os
from dataclasses import dataclass

from local_stack.containers import network
from local_stack.containers.endpoint import DaemonAddress

GIVEN = "CONCERTINA_GATEWAY"  # this machine's address, where nodes have networks of their own


@dataclass(frozen=True, slots=True, kw_only=True)
class Containers:
    """Where the containers of this checkout's jobs run."""

    endpoint: DaemonAddress
    network: str  # of the coordinators
    gateway: str  # this machine's address in it
    worker_image: str

    def environment(self, port: int) -> dict[str, str]:
        """Return the environment of the service's processes, with the api at this port."""
        return {
            "CONCERTINA_WORKER_HOST": "docker",
            "CONCERTINA_DOCKER_URL": self.endpoint.url,
            "CONCERTINA_COORDINATOR_NETWORK": self.network,
            "CONCERTINA_INTERNAL_URL": f"http://{self.gateway}:{port}",
            "CONCERTINA_WORKER_IMAGE": self.worker_image,
        }


def prepare(endpoint: DaemonAddress, *, host_id: str, worker_image: str) -> Containers:
    """Make the coordinators' network, unless nodes of their own reach this machine otherwise.

    Raises:
        NoDocker: with what the daemon says.
    """
    given = os.environ.get(GIVEN)
    return Containers(
        endpoint=endpoint,
        network=network.name_of(host_id),
        gateway=given or network.ensure(endpoint.url, host_id),
        worker_image=worker_image,
    )
