"""Which Docker daemon belongs to which node?"""

from __future__ import annotations

from pathlib import Path

from cluster.docker_host.endpoint import Endpoint
from cluster.models import Node

from autoscaler.control_loop.docker_nodes import DockerNodes

from .conftest import World

SOCKET = "unix:///var/run/docker.sock"


def test_a_node_that_names_no_daemon_has_that_of_the_settings(world: World) -> None:
    nodes = DockerNodes(default_url=SOCKET, certificates=None)
    assert nodes() == {"n1": Endpoint(url=SOCKET)}
    Node.objects.update(docker_url="ssh://me@n1")
    assert nodes() == {"n1": Endpoint(url="ssh://me@n1")}


def test_only_tcp_uses_certificates_and_each_node_has_its_own(world: World) -> None:
    nodes = DockerNodes(default_url=SOCKET, certificates=Path("/certs"))
    assert nodes()["n1"].certificates is None
    Node.objects.update(docker_url="tcp://n1:2376")
    assert nodes()["n1"] == Endpoint(url="tcp://n1:2376", certificates=Path("/certs/n1"))
