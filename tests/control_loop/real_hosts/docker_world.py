"""A world whose processes run in real containers, on daemons that may take their time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.docker_host.host import DockerHost

from autoscaler.reconciling.limits import TimeLimits
from tests.control_loop.world import World

# None of them is passed because a machine is slow; whoever tests one sets it.
PATIENT: Final = TimeLimits(
    coordinator_silence=600.0,
    coordinator_never_seen=1200.0,
    coordinator_farewell=300.0,
    kill_grace=60.0,
    hung_worker=600.0,
    stuck_change=1200.0,
    node_lost_after=3600.0,
)


def docker_host(
    world: World, daemons: Mapping[str, str], *, installation: str, image: str
) -> DockerHost:
    """Of these nodes, by the addresses of their daemons."""
    endpoints = {node: DaemonEndpoint(url=url) for node, url in daemons.items()}
    return DockerHost(
        state_dir=world.state_dir,
        installation=installation,
        endpoints=lambda: endpoints,
        worker_image=image,
        user="10001:10001",
        coordinator_network=f"{installation}-coordinators",
        answer_seconds=60.0,
        registry_patience_seconds=600.0,
    )
