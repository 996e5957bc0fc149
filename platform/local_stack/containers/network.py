"""By which network do coordinators in containers reach the api, and where is it there?"""

from __future__ import annotations

from local_stack.containers.endpoint import docker

GATEWAY = "{{(index .IPAM.Config 0).Gateway}}"


def name_of(host_id: str) -> str:
    """Return what the service calls it by default, too."""
    return f"concertina-{host_id}-coordinators"


def ensure(url: str, host_id: str) -> str:
    """Make the network unless it is there; returns this machine's address in it.

    Nothing but this machine can be reached from it.

    Raises:
        NoDocker: with what the daemon says.
    """
    name = name_of(host_id)
    if not _identity(url, host_id):
        docker(url, "network", "create", "--internal", name)
    return docker(url, "network", "inspect", "--format", GATEWAY, name)


def remove(url: str, host_id: str) -> None:
    """Remove it; without complaint if it is not there.

    Raises:
        NoDocker: somebody else's container is in it, say.
    """
    if network := _identity(url, host_id):
        docker(url, "network", "rm", network)


def _identity(url: str, host_id: str) -> str:
    """Return its id; empty: it is not there."""
    return docker(url, "network", "ls", "--quiet", "--filter", f"name=^{name_of(host_id)}$")
