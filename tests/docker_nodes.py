"""Two machines on one: each a Docker daemon in a network namespace of its own, both in one swarm.

A cable (a pair of virtual interfaces to a bridge of the host) connects them with each other and
with the tests. Needs root and an installed `dockerd`.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import docker
import psutil
import pytest
import requests
from local_stack.chaos.containers import cables

from tests import image_shelf
from tests.docker_daemon import DockerDaemon, remove_everything

_SUBNET: Final = f"10.{200 + os.getpid() % 50}.{os.getpid() // 50 % 250}"
_OVERLAYS: Final = f"10.{150 + os.getpid() % 50}.0.0/16"
_PATIENCE_SECONDS: Final = 120.0
_HOST: Final = f"{_SUBNET}.1"


@dataclass(frozen=True)
class Machine:
    """A node: its daemon, which runs without live-restore, as a swarm demands."""

    name: str
    address: str
    daemon: DockerDaemon

    def burn_down(self) -> None:
        """The daemon and every container end at once."""
        self.daemon.kill()
        folder = str(self.daemon.folder)
        shims = [p for p in psutil.process_iter(["cmdline"]) if _is_shim(p, folder)]
        for shim in shims:
            doomed = [shim]
            with suppress(psutil.NoSuchProcess):  # it ended by itself
                doomed += shim.children(recursive=True)
            for process in doomed:
                with suppress(psutil.NoSuchProcess):  # a container ends with its shim
                    process.kill()


@dataclass(frozen=True)
class Machines:
    """A manager of the swarm, and a worker; `host` is where both reach the tests."""

    manager: Machine
    worker: Machine
    host: str = _HOST

    @property
    def both(self) -> tuple[Machine, Machine]:
        return self.manager, self.worker

    def put_right(self) -> None:
        """Both daemons run, in a swarm that knows of no death, with nothing in them but images."""
        for machine in self.both:
            if not machine.daemon.is_running:
                machine.daemon.run()
            remove_everything(machine.daemon.client(), networks=False)
        give_up_at = time.monotonic() + _PATIENCE_SECONDS
        while not self._have_networks_gone():
            assert time.monotonic() < give_up_at, "a network cannot be removed"
            time.sleep(0.1)
        _leave(self.worker.daemon)
        _join(self.manager, self.worker)

    def _have_networks_gone(self) -> bool:
        """The swarm hears a moment later that a container has left one."""
        for client in (machine.daemon.client() for machine in self.both):
            for network in client.networks(filters={"type": "custom", "label": "concertina.job"}):
                with suppress(docker.errors.APIError):
                    client.remove_network(network["Id"])
        client = self.manager.daemon.client()
        return not client.networks(filters={"type": "custom", "label": "concertina.job"})


@contextmanager
def two_machines(images_of: Path) -> Iterator[Machines]:
    """Both have the images of the daemon of this folder. Skips where there can be none."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("dockerd", "ip", "iptables", "nsenter"))):
        pytest.skip("needs root, dockerd, ip, iptables and nsenter for daemons in namespaces")
    with ExitStack() as stack:
        bridge = f"cn{os.getpid()}"
        stack.enter_context(cables.bridge(bridge, f"{_HOST}/24"))
        manager, worker = (
            stack.enter_context(_machine(number, bridge, images_of)) for number in range(2)
        )
        _found_swarm(manager)
        _join(manager, worker)
        yield Machines(manager=manager, worker=worker)


def _found_swarm(manager: Machine) -> None:
    manager.daemon.client().init_swarm(
        advertise_addr=manager.address, listen_addr=manager.address, default_addr_pool=[_OVERLAYS]
    )


def _join(manager: Machine, worker: Machine) -> None:
    token = manager.daemon.client().inspect_swarm()["JoinTokens"]["Worker"]
    worker.daemon.client().join_swarm(
        remote_addrs=[manager.address],
        join_token=token,
        advertise_addr=worker.address,
        listen_addr=worker.address,
    )


@contextmanager
def _machine(number: int, bridge: str, images_of: Path) -> Iterator[Machine]:
    namespace, address = f"{bridge}-{number}", f"{_SUBNET}.{number + 2}"
    folder = Path(tempfile.mkdtemp(prefix="cn-", dir="/tmp"))  # short: it holds sockets
    image_shelf.link(images_of / "data", folder / "data")
    with cables.namespace(namespace, on=bridge, address=f"{address}/24", gateway=_HOST):
        daemon = DockerDaemon(
            url=f"unix://{folder}/docker.sock", folder=folder, options=(), namespace=namespace
        )
        try:
            daemon.run()
            yield Machine(name=f"n{number + 1}", address=address, daemon=daemon)
        finally:
            _leave(daemon)
            daemon.end()


def _leave(daemon: DockerDaemon) -> None:
    """The swarm's own networks can be removed afterwards."""
    with suppress(docker.errors.DockerException, requests.RequestException):
        daemon.client().leave_swarm(force=True)


def _is_shim(process: psutil.Process, folder: str) -> bool:
    words = process.info["cmdline"] or []
    return bool(words) and "containerd-shim" in words[0] and any(folder in word for word in words)
