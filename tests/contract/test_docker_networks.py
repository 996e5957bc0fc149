"""Whom does a job's container reach? The others of its job, and nobody else."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import docker
import pytest
import requests
from cluster.job_network import JobNetwork
from cluster.worker_host import Labels, Role

from tests.docker_daemon import DockerDaemon

from .conftest import DockerBench, exited, forgotten, texts, until
from .docker_view import networks

LISTEN = "exec nc -ll -p 5000 -e echo hello"
METADATA = "169.254.169.254"  # where clouds tell a machine its credentials


def launch(bench: DockerBench, process_id: str, job_id: str, script: str, **options: Any) -> None:
    who = Labels(
        process_id=process_id,
        job_id=job_id,
        role=options.pop("role", Role.WORKER),
        attempt=1,
        fence=1,
    )
    bench.launch(process_id, ("sh", "-c", script), labels=who, alias=process_id, **options)


def outcome(bench: DockerBench, process_id: str) -> list[str]:
    exited(bench.host, process_id)
    return texts(bench, process_id)


@pytest.fixture
def service_port() -> Iterator[int]:
    """Something that listens on every address of this machine, as careless databases do."""
    with socket.create_server(("0.0.0.0", 0)) as server:  # noqa: S104 - the point
        threading.Thread(target=greet, args=(server,), daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


def greet(server: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it is closed
        while True:
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"hello\n")


def addresses_of_this_machine() -> list[str]:
    told = subprocess.run(("hostname", "-I"), check=True, capture_output=True, text=True)
    return [address for address in told.stdout.split() if "." in address]


def test_a_job_reaches_its_own_and_nobody_else(
    docker_bench: DockerBench, docker_daemon: DockerDaemon, service_port: int
) -> None:
    launch(docker_bench, "a1", "job1", f"ip -4 -o addr show eth0; {LISTEN}")
    (told,) = until(lambda: texts(docker_bench, "a1"))
    address = told.split()[3].partition("/")[0]
    others = " ".join(f"{one}:{service_port}" for one in addresses_of_this_machine()[:2])
    script = f"""
    for target in a1:5000 {address}:5000 {METADATA}:80 {others}; do
      nc -w 1 "${{target%:*}}" "${{target##*:}}" </dev/null 2>/dev/null | grep -q hello \\
        && echo reached "$target"
    done
    echo over
    """
    launch(docker_bench, "a2", "job1", script)
    launch(docker_bench, "b1", "job2", script)
    own = ["reached a1:5000", f"reached {address}:5000", "over"]
    assert outcome(docker_bench, "a2") == own
    assert outcome(docker_bench, "b1") == ["over"]


def test_a_network_goes_with_its_jobs_last_container(
    docker_bench: DockerBench, docker_daemon: DockerDaemon
) -> None:
    for process_id, job_id in (("a1", "job1"), ("a2", "job1"), ("b1", "job2")):
        launch(docker_bench, process_id, job_id, "true")
        exited(docker_bench.host, process_id)
    assert len(networks(docker_bench, docker_daemon)) == 2
    forgotten(docker_bench.host, "a1")
    assert len(networks(docker_bench, docker_daemon)) == 2
    forgotten(docker_bench.host, "a2")
    (left,) = networks(docker_bench, docker_daemon)
    assert left.endswith("job2")
    forgotten(docker_bench.host, "b1")
    assert networks(docker_bench, docker_daemon) == []


def test_a_coordinator_also_reaches_the_service(
    docker_bench: DockerBench, service_port: int
) -> None:
    gateway = "$(ip route | awk '/^default/ {print $3}')"
    script = f"nc -w 5 {gateway} {service_port} </dev/null; {LISTEN}"
    launch(docker_bench, "coordinator", "job1", script, role=Role.COORDINATOR)
    until(lambda: texts(docker_bench, "coordinator") == ["hello"])
    ask = "until nc -w 2 coordinator 5000 </dev/null 2>/dev/null; do sleep 0.1; done"
    launch(docker_bench, "a1", "job1", ask)
    assert outcome(docker_bench, "a1") == ["hello"]


def test_a_coordinator_gets_both_networks_however_often_its_start_is_broken_off(
    docker_bench: DockerBench, service_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it is connected, and again before it is started."""
    broken = []

    def breaks_once(name: str) -> None:
        real = getattr(docker.APIClient, name)

        def call(*arguments: Any, **options: Any) -> Any:
            if name not in broken:
                broken.append(name)
                raise requests.ConnectionError
            return real(*arguments, **options)

        monkeypatch.setattr(docker.APIClient, name, call)

    breaks_once("connect_container_to_network")
    breaks_once("start")
    gateway = "$(ip route | awk '/^default/ {print $3}')"
    script = f"nc -w 5 {gateway} {service_port} </dev/null"
    launch(docker_bench, "coordinator", "job1", script, role=Role.COORDINATOR)
    assert outcome(docker_bench, "coordinator") == ["hello"]
    assert broken == ["connect_container_to_network", "start"]


def test_with_egress_there_is_a_way_out(docker_bench: DockerBench, service_port: int) -> None:
    """To whatever this machine reaches, hence to its own services too."""
    bench = replace(docker_bench, host=replace(docker_bench.host, job_network=JobNetwork.EGRESS))
    launch(bench, "a1", "job1", f"nc -w 5 {addresses_of_this_machine()[0]} {service_port}")
    assert outcome(bench, "a1") == ["hello"]
