"""Docker for a checkout: which daemon is used, and one of its own that disturbs nobody."""

from __future__ import annotations

import os
import shutil
import signal
import socket
from collections.abc import Iterator
from ipaddress import IPv4Network
from pathlib import Path

import pytest
from local_stack import checkout as checkouts
from local_stack.checkout import Checkout
from local_stack.containers import endpoint, mounts, network, own_bridge, own_cgroup, own_daemon
from local_stack.containers.endpoint import DaemonAddress, NoDocker
from local_stack.processes.child_process import ChildProcess

can_start_a_daemon = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("dockerd") is None, reason="only root starts dockerd"
)


@pytest.fixture
def checkout(folder: Path) -> Iterator[Checkout]:
    made = checkouts.find(home=folder / "state")
    made.make_folders()
    yield made
    shutil.rmtree(made.runtime_dir)


@pytest.fixture
def programs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder in which programs are looked for; no daemon of the machine is seen."""
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(endpoint, "SYSTEM_SOCKET", folder / "docker.sock")
    return folder


def install(folder: Path, program: str) -> None:
    (folder / program).write_text(
        "#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2\nexit 1\n"
    )
    (folder / program).chmod(0o755)


def test_without_docker_a_person_is_told_what_to_install(
    programs: Path, checkout: Checkout
) -> None:
    with pytest.raises(NoDocker, match=r"apt-get install docker\.io"):
        endpoint.choose(checkout, {})


def test_a_daemon_that_is_named_must_answer(programs: Path, checkout: Checkout) -> None:
    install(programs, "docker")
    with pytest.raises(NoDocker, match=r"unix:///nowhere.*Cannot connect"):
        endpoint.choose(checkout, {"DOCKER_HOST": "unix:///nowhere"})


def test_a_daemon_of_another_machine_is_refused(programs: Path, checkout: Checkout) -> None:
    install(programs, "docker")
    with pytest.raises(NoDocker, match=r"tcp://gpu-7:2376.*this machine only"):
        endpoint.choose(checkout, {"DOCKER_HOST": "tcp://gpu-7:2376"})


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may start a daemon")
def test_root_gets_a_daemon_of_the_checkout_where_none_runs(
    programs: Path, checkout: Checkout
) -> None:
    install(programs, "docker")
    install(programs, "dockerd")
    chosen = endpoint.choose(checkout, {"DOCKER_HOST": "tcp://gpu-7:2376", endpoint.OWN: "yes"})
    assert chosen == endpoint.choose(checkout, {})
    assert chosen == DaemonAddress(url=endpoint.own_url(checkout), is_ours=True)


def test_jobs_networks_are_cut_from_where_this_machine_has_no_route(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = folder / "route"
    table.write_text(
        "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n"
        "eth0 00000000 010200C0 0003 0 0 0 00000000 0 0 0\n"  # the default route
        "tun0 0000400A 00000000 0001 0 0 0 0000FEFF 0 0 0\n"  # 10.64.0.0/15
    )
    monkeypatch.setattr(own_daemon, "ROUTES", table)
    assert own_daemon.free_network() == IPv4Network("10.66.0.0/16")


@can_start_a_daemon
def test_a_daemon_of_the_checkout_is_reached_by_its_socket_and_leaves_nothing(
    checkout: Checkout,
) -> None:
    had_default_bridge = own_bridge.is_there("docker0")
    with own_daemon.running(checkout):
        url = endpoint.own_url(checkout)
        gateway = network.ensure(url, checkout.identity)
        assert network.ensure(url, checkout.identity) == gateway
        with socket.create_server((gateway, 0)):
            pass  # the api can listen where coordinators look for it
        network.remove(url, checkout.identity)
        network.remove(url, checkout.identity)  # a second time is no error
        assert own_bridge.is_there("docker0") == had_default_bridge
    assert not own_bridge.is_there(own_bridge.name_of(checkout.identity))
    with pytest.raises(OSError, match="Cannot assign"):
        socket.create_server((gateway, 0))  # nor is there its network's bridge
    assert not [mount for one in own_daemon.folders(checkout) for mount in mounts.below(one)]


@can_start_a_daemon
def test_a_daemon_of_the_checkout_returns_after_a_kill(checkout: Checkout) -> None:
    daemon = ChildProcess(own_daemon.spec(checkout))
    daemon.wait_until_ready()
    gateway = network.ensure(endpoint.own_url(checkout), checkout.identity)
    os.kill(daemon.pid, signal.SIGKILL)
    daemon.stop()
    with own_daemon.running(checkout):
        assert network.ensure(endpoint.own_url(checkout), checkout.identity) == gateway
        network.remove(endpoint.own_url(checkout), checkout.identity)


def test_all_containers_together_weigh_more_than_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_cgroup, "CONTROLLERS", tmp_path)
    assert own_cgroup.ensure("conc-1") is None  # the second version of control groups
    (tmp_path / "cpu").mkdir()
    assert own_cgroup.ensure("conc-1") == "/conc-1"
    assert int((tmp_path / "cpu" / "conc-1" / "cpu.shares").read_text()) > 1024
