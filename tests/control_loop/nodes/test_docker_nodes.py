"""Which Docker daemon belongs to which node?"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.docker_host.nodes import DockerNodes
from cluster.models import Node
from cluster.worker_host import HostUnavailable
from django.db import connection

from tests.control_loop.world import World

SOCKET = "unix:///var/run/docker.sock"


def test_a_node_that_names_no_daemon_has_that_of_the_settings(world: World) -> None:
    nodes = DockerNodes(default_url=SOCKET, certificates=None)
    assert nodes() == {"n1": DaemonEndpoint(url=SOCKET)}
    Node.objects.update(host_url="ssh://me@n1")
    assert nodes() == {"n1": DaemonEndpoint(url="ssh://me@n1")}


def test_only_tcp_uses_certificates_and_each_node_has_its_own(world: World) -> None:
    nodes = DockerNodes(default_url=SOCKET, certificates=Path("/certs"))
    assert nodes()["n1"].certificates is None
    Node.objects.update(host_url="tcp://n1:2376")
    assert nodes()["n1"] == DaemonEndpoint(url="tcp://n1:2376", certificates=Path("/certs/n1"))


@pytest.mark.django_db
def test_while_the_database_is_away_all_is_as_it_was_told_before_and_before_that_unknown() -> None:
    """No node at all would mean that no process is anywhere."""
    nodes = DockerNodes(default_url=SOCKET, certificates=None)

    def in_a_thread_that_watches() -> None:
        there = connection.settings_dict
        connection.settings_dict = {**there, "HOST": "/nowhere"}
        with pytest.raises(HostUnavailable):
            nodes()
        connection.settings_dict = there
        told = nodes()
        connection.close()
        connection.settings_dict = {**there, "HOST": "/nowhere"}
        assert nodes() == told

    with ThreadPoolExecutor(1) as thread:
        thread.submit(in_a_thread_that_watches).result()
