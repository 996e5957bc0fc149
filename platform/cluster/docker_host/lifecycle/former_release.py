"""What did the former release leave on a daemon? Containers that wait, or waited, for a launch.

This release knows of none: who runs in one counts as lost, and is started anew.
"""

from __future__ import annotations

import contextlib
from typing import Final

import docker.errors

from cluster.docker_host.connection.connections import Connections, asking
from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.docker_host.container import labels

_GRACE_SECONDS: Final = 30  # for a checkpoint of a worker that trains in one


def end_containers(
    endpoint: DaemonEndpoint, connections: Connections, *, installation: str
) -> None:
    """Stop them, with time for a checkpoint, and remove them. None is left once this returns.

    Raises:
        HostUnavailable: later, then.
    """
    wanted = {"label": labels.of_all_warm(installation)}
    with asking(endpoint):
        client = connections.patient(endpoint)
        for row in client.containers(all=True, filters=wanted):
            if labels.waits_warm(row["Labels"]):
                with contextlib.suppress(docker.errors.NotFound):
                    client.stop(row["Id"], timeout=_GRACE_SECONDS)
                    client.remove_container(row["Id"], force=True, v=True)
