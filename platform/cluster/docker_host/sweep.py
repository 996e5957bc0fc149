"""How do all containers of one installation end? For shutting it down, not for its daily work."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from cluster.docker_host.connection.connections import Connections
from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.docker_host.connection.tunnels import Tunnels
from cluster.docker_host.host import DockerHost
from cluster.docker_host.lifecycle import former_release
from cluster.docker_host.record.records import Records
from cluster.worker_host import HostUnavailable, ProcessPhase

_ANSWER_SECONDS: Final = 5.0
_POLL_SECONDS: Final = 0.05
_PATIENCE_SECONDS: Final = 10.0  # guessed: for Docker, once the grace period is over
_REMOVAL_SECONDS: Final = 90.0  # guessed: for copying last lines, and a busy disk
_REMOVAL_POLL_SECONDS: Final = 0.5


def sweep(docker_url: str, *, installation: str, state_dir: Path, grace_seconds: float) -> int:
    """End every container and remove it, and the networks of jobs; returns how many there were.

    Blocks until all are gone; what they wrote is kept.

    Raises:
        HostUnavailable: Docker does not answer, or does not end or remove them in time.
    """
    host = _host(docker_url, installation, state_dir)
    _end_those_of_the_former_release(DaemonEndpoint(url=docker_url), installation)
    host.remove_gpu_tellers()
    found = host.list().by_id()
    for process_id in found:
        host.stop(process_id, grace_seconds=grace_seconds)
    _wait_until_all_ended(host, give_up_at=time.monotonic() + grace_seconds + _PATIENCE_SECONDS)
    for process_id in found:
        host.forget(process_id)
    _wait_until_all_removed(host, found, give_up_at=time.monotonic() + _REMOVAL_SECONDS)
    return len(found)


def _end_those_of_the_former_release(endpoint: DaemonEndpoint, installation: str) -> None:
    connections = Connections(
        answer_seconds=_ANSWER_SECONDS, tunnels=Tunnels(seconds=_ANSWER_SECONDS)
    )
    with contextlib.closing(connections):
        former_release.end_containers(endpoint, connections, installation=installation)


def _wait_until_all_ended(host: DockerHost, *, give_up_at: float) -> None:
    while running := [p for p in host.list().processes if p.phase is not ProcessPhase.EXITED]:
        if time.monotonic() > give_up_at:
            names = ", ".join(process.labels.process_id for process in running)
            raise HostUnavailable(f"Docker has not ended {names}.")
        time.sleep(_POLL_SECONDS)


def _wait_until_all_removed(
    host: DockerHost, process_ids: Iterable[str], *, give_up_at: float
) -> None:
    records = [Records(state_dir=host.state_dir).of(process_id) for process_id in process_ids]
    while left := [record.process_id for record in records if record.folder.exists()]:
        if time.monotonic() > give_up_at:
            raise HostUnavailable(f"Docker has not removed {', '.join(left)}.")
        time.sleep(_REMOVAL_POLL_SECONDS)
        host.list()  # goes on with what was refused


def _host(docker_url: str, installation: str, state_dir: Path) -> DockerHost:
    endpoint = DaemonEndpoint(url=docker_url)
    return DockerHost(
        state_dir=state_dir.absolute(),
        installation=installation,
        endpoints=lambda: {"": endpoint},
        worker_image="",  # nothing is started
        user="",
        coordinator_network="",
    )
