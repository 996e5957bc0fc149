"""Whom does a job's container reach? The others of its job, and nobody else."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import threading
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import docker
import pytest
import requests
from cluster.docker_host.record.records import Records
from cluster.files.lock_files import holding
from cluster.worker_host import Labels, ProcessRole

from autoscaler.job_network import JobNetwork
from tests.contract.conftest import DockerBench, exited, forgotten, labels, texts, until
from tests.contract.docker_host.docker_view import networks
from tests.docker_daemon import DockerDaemon

LISTEN = "exec nc -ll -p 5000 -e echo hello"
METADATA = "169.254.169.254"  # where clouds tell a machine its credentials
TRY = 'nc -w $seconds "${target%:*}" "${target##*:}" </dev/null 2>/dev/null | grep -q hello'
AT_MOST = "seconds=30"  # for one that is to be reached
SOON = "seconds=5"  # else: who is reached answers at once, who drops what is sent never does


def launch(bench: DockerBench, process_id: str, job_id: str, script: str, **options: Any) -> None:
    who = Labels(
        process_id=process_id,
        job_id=job_id,
        role=options.pop("role", ProcessRole.WORKER),
        attempt=1,
        fence=1,
    )
    bench.launch(process_id, ("sh", "-c", script), labels=who, alias=process_id, **options)


def outcome(bench: DockerBench, process_id: str, *, job_id: str = "job1") -> list[str]:
    exited(bench.host, process_id)
    return texts(bench, process_id, job_id=job_id)


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


@pytest.fixture
def services(service_port: int) -> Iterator[list[str]]:
    """Where it is found: at this machine's address, and where clouds have their metadata."""
    interface = f"md{os.getpid()}"
    ip("link", "add", interface, "type", "bridge")
    try:
        ip("address", "add", f"{METADATA}/32", "dev", interface)
        ip("link", "set", interface, "up")
        route = ip("-4", "-o", "route", "get", "203.0.113.1").split()  # to the world
        own = route[route.index("src") + 1]
        yield [f"{address}:{service_port}" for address in (own, METADATA)]
    finally:
        ip("link", "delete", interface)


def ip(*words: str) -> str:
    return subprocess.run(("ip", *words), check=True, capture_output=True, text=True).stdout


def tries(targets: Iterable[str], seconds: str = SOON) -> str:
    """A script that tries each once, all at the same time, and tells whom it reached."""
    once = f'for target in {" ".join(targets)}; do {{ {TRY} && echo reached "$target"; }} & done'
    return f"{seconds}; {once}; wait; echo over"


def test_a_job_reaches_its_own_and_nobody_else(
    docker_bench: DockerBench, services: list[str]
) -> None:
    launch(docker_bench, "a1", "job1", f"ip -4 -o addr show eth0; {LISTEN}")
    (told,) = until(lambda: texts(docker_bench, "a1"))
    own = ["a1:5000", f"{told.split()[3].partition('/')[0]}:5000"]
    until_it_listens = f"{AT_MOST}; target=a1:5000; until {TRY}; do sleep 0.1; done"
    tries_all = f"{tries(own, AT_MOST)}; {tries(services)}"
    launch(docker_bench, "a2", "job1", f"{until_it_listens}; {tries_all}")
    until(lambda: "over" in texts(docker_bench, "a2"))  # it has reached its own
    launch(docker_bench, "b1", "job2", tries((*own, *services)))
    *reached, over, over_again = outcome(docker_bench, "a2")
    assert sorted(reached) == sorted(f"reached {target}" for target in own)
    assert (over, over_again) == ("over", "over")
    assert outcome(docker_bench, "b1", job_id="job2") == ["over"]


@pytest.mark.parametrize(
    ("usual", "wanted", "asks"),
    [
        (JobNetwork.ISOLATED, "", ["127.0.0.1"]),
        (JobNetwork.EGRESS, "", []),
        (JobNetwork.EGRESS, "isolated", ["127.0.0.1"]),
    ],
)
def test_an_isolated_worker_asks_nobody_for_names_of_the_world(
    docker_bench: DockerBench,
    docker_daemon: DockerDaemon,
    usual: JobNetwork,
    wanted: str,
    asks: list[str],
) -> None:
    """Docker's own resolver forwards them from the node, though the network leads nowhere."""
    bench = replace(docker_bench, host=replace(docker_bench.host, job_network=usual))
    launch(bench, "c1", "job1", "true", role=ProcessRole.COORDINATOR, network=wanted)
    launch(bench, "a1", "job1", "true", network=wanted)

    def asked_by(process_id: str) -> list[str]:
        exited(bench.host, process_id)
        name = f"concertina-{bench.host.installation}-{process_id}"
        return docker_daemon.client().inspect_container(name)["HostConfig"]["Dns"] or []

    assert asked_by("a1") == asks
    assert asked_by("c1") == [], "it may have to find the service by its name"


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


def test_a_network_that_was_left_of_a_job_goes_and_those_in_use_stay(
    docker_bench: DockerBench, docker_daemon: DockerDaemon
) -> None:
    """Docker refused to remove it when its job ended, or did not answer."""
    launch(docker_bench, "a1", "job1", LISTEN)
    (used,) = networks(docker_bench, docker_daemon)
    prepared = Records(state_dir=docker_bench.host.state_dir).of("c1")
    with holding(prepared.lock_path):
        prepared.begin(replace(labels("c1"), job_id="job3"), "n1")
        installation = docker_bench.host.installation
        for job_id in ("job2", "job3"):
            own = {"concertina.installation": installation, "concertina.job": job_id}
            docker_daemon.client().create_network(f"{installation}-{job_id}", labels=own)
        replace(docker_bench.host).list()
        kept = [used, f"{installation}-job3"]
        until(lambda: sorted(networks(docker_bench, docker_daemon)) == sorted(kept))


def test_a_coordinator_also_reaches_the_service(
    docker_bench: DockerBench, service_port: int
) -> None:
    gateway = "$(ip route | awk '/^default/ {print $3}')"
    script = f"nc -w 60 {gateway} {service_port} </dev/null; {LISTEN}"
    launch(docker_bench, "coordinator", "job1", script, role=ProcessRole.COORDINATOR)
    until(lambda: texts(docker_bench, "coordinator") == ["hello"])
    ask = "until nc -w 30 coordinator 5000 </dev/null 2>/dev/null; do sleep 0.1; done"
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
    script = f"nc -w 60 {gateway} {service_port} </dev/null"
    launch(docker_bench, "coordinator", "job1", script, role=ProcessRole.COORDINATOR)
    assert outcome(docker_bench, "coordinator") == ["hello"]
    assert broken == ["connect_container_to_network", "start"]


def test_with_a_list_the_coordinator_alone_has_a_way_out(
    docker_bench: DockerBench, docker_daemon: DockerDaemon, services: list[str]
) -> None:
    """Beside it runs the gate. No other coordinator is reached on that way."""
    client, installation = docker_daemon.client(), docker_bench.host.installation
    inner = f"{installation}-inner"
    client.create_network(inner, internal=True)  # as beside `docker compose`
    bench = replace(docker_bench, host=replace(docker_bench.host, coordinator_network=inner))
    script = f"{tries(services, AT_MOST)}; {LISTEN}"
    launch(bench, "c1", "job1", script, role=ProcessRole.COORDINATOR, network="listed")
    *reached, _ = until(lambda: [*texts(bench, "c1")] if "over" in texts(bench, "c1") else [])
    assert sorted(reached) == sorted(f"reached {target}" for target in services)
    of_coordinator = client.inspect_container(f"concertina-{installation}-c1")
    way = of_coordinator["NetworkSettings"]["Networks"][f"concertina-{installation}-gates"]
    other = f"{way['IPAddress']}:5000"
    launch(bench, "a1", "job1", tries((*services, other)), network="listed")
    launch(bench, "c2", "job2", tries([other]), role=ProcessRole.COORDINATOR, network="listed")
    assert outcome(bench, "a1") == ["over"]
    assert outcome(bench, "c2", job_id="job2") == ["over"]
    of_worker = client.inspect_container(f"concertina-{installation}-a1")
    assert of_worker["HostConfig"]["Dns"] == ["127.0.0.1"], "it asks nobody for the world's names"


def test_with_egress_there_is_a_way_out(docker_bench: DockerBench, services: list[str]) -> None:
    """To whatever this machine reaches, hence to its own services too; for this job alone."""
    launch(docker_bench, "a1", "job1", tries(services, AT_MOST), network="egress")
    *reached, over = outcome(docker_bench, "a1")
    assert sorted(reached) == sorted(f"reached {target}" for target in services)
    assert over == "over"
