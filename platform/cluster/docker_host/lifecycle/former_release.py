"""What did the former release leave on a daemon? Containers that wait, or waited, for a launch.

This release knows of none: who runs in one counts as lost, and is started anew.
"""

from __future__ import annotations

import contextlib

import docker.errors

from cluster.docker_host.connection.connections import Connections, talking_to
from cluster.docker_host.connection.endpoint import Endpoint
from cluster.docker_host.container import labels


def remove_containers(endpoint: Endpoint, connections: Connections, *, installation: str) -> None:
    """Raises: HostUnavailable, docker.errors.APIError: later, then."""
    wanted = {"label": labels.of_all_warm(installation)}
    with talking_to(endpoint):
        client = connections.patient(endpoint)
        for row in client.containers(all=True, filters=wanted):
            if labels.waits_warm(row["Labels"]):
                with contextlib.suppress(docker.errors.NotFound):
                    client.remove_container(row["Id"], force=True, v=True)
