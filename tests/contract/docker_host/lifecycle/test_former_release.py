"""Containers that only the former release knew are removed."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.docker_host.container import labels
from cluster.docker_host.container.networks import Networks
from cluster.docker_host.lifecycle import former_release
from cluster.docker_host.lifecycle.network_sweep import NetworkSweep
from cluster.docker_host.record.records import Records
from cluster.worker_host import HostUnavailable, Labels, ProcessRole

from autoscaler.job_network import JobNetwork

OURS = labels.of_process(
    Labels(process_id="p", job_id="job1", role=ProcessRole.WORKER, attempt=1, fence=1),
    node="n1",
    installation="t",
)


@dataclass
class Daemon:
    """In place of `Connections` and of the client that they give."""

    orders: list[tuple[str, str]] = field(default_factory=list)
    was_asked_for_networks: threading.Event = field(default_factory=threading.Event)

    def patient(self, _: DaemonEndpoint) -> Daemon:
        return self

    def quick(self, _: DaemonEndpoint) -> Daemon:
        return self

    def info(self) -> Any:
        self.was_asked_for_networks.set()
        raise HostUnavailable("not now")

    def containers(self, *, all: bool, filters: Any) -> list[dict[str, Any]]:  # noqa: A002 - theirs
        assert all
        assert filters == {"label": ["concertina.installation=t", "concertina.warm"]}
        waits = {**OURS, "concertina.warm": "0123456789ab"}
        return [{"Id": "ours", "Labels": OURS}, {"Id": "waits", "Labels": waits}]

    def stop(self, container: str, *, timeout: int) -> None:
        assert timeout
        self.orders.append(("stop", container))

    def remove_container(self, container: str, **_: Any) -> None:
        self.orders.append(("remove", container))


def test_a_container_that_waited_for_a_launch_is_stopped_and_removed_and_no_other() -> None:
    daemon = Daemon()
    connections: Any = daemon
    former_release.end_containers(DaemonEndpoint(url="u"), connections, installation="t")
    assert daemon.orders == [("stop", "waits"), ("remove", "waits")]


def test_networks_that_cannot_be_removed_keep_no_container_of_it_from_ending(
    tmp_path: Path,
) -> None:
    daemon = Daemon()
    connections: Any = daemon
    networks = Networks(
        installation="t",
        job_network=JobNetwork.ISOLATED,
        coordinator_network="c",
        connections=connections,
    )
    sweep = NetworkSweep(networks=networks, records=Records(state_dir=tmp_path))
    sweep.now_and_then([DaemonEndpoint(url="u")], [])
    assert daemon.was_asked_for_networks.wait(90)
    assert daemon.orders == [("stop", "waits"), ("remove", "waits")]
