"""`docker-compose.yml`, brought up: jobs train, processes come back, nobody reaches too far."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docker_daemon import DockerDaemon
from tests.end_to_end import composed as composing
from tests.end_to_end.composed import SECRET, SERVICES, Composed
from tests.end_to_end.submitted_job import SubmittedJob
from tests.end_to_end.waiting import until

pytestmark = pytest.mark.timeout(600)  # the first to come make the images
SCRIPT = (Path(__file__).parent / "scripts" / "sleepy_regression.py").read_text()


@pytest.fixture(scope="module")
def composed(docker_daemon: DockerDaemon) -> Iterator[Composed]:
    if shutil.which("docker-compose") is None:
        pytest.skip("needs docker-compose")
    if not docker_daemon.url.startswith("unix://"):
        pytest.skip("the socket of a Docker daemon elsewhere cannot be mounted")
    with composing.running(docker_daemon.url) as up:
        yield up


def test_a_job_trains_to_its_end_though_the_control_worker_is_killed_meanwhile(
    composed: Composed,
) -> None:
    token = composed.bootstrap()["vision"]
    with composed.client(token) as client:
        job = SubmittedJob.submit(
            client,
            {
                "name": "line",
                "command": ["python", "-c", SCRIPT, "--samples", "200", "--epochs", "4"],
                "elastic": {"min_workers": 1, "max_workers": 1, "mode": "hot"},
                "batch": {"global_batch_size": {"base": 8, "min": 8, "max": 8}},
            },
        )
        until(lambda: job.trains_with(1), seconds=180, what="the job trains")
        before = composed.container("control")
        composed.kill("control")
        until(
            lambda: composed.container("control")["RestartCount"] > before["RestartCount"],
            seconds=60,
            what="the control worker is back",
        )
        until(lambda: job.is_in("completed"), seconds=180, what="the job is completed")
    for service in SERVICES:
        until(
            lambda service=service: composed.is_well(service),
            seconds=120,
            what=f"{service} is well",
        )


def test_only_the_control_worker_may_talk_to_docker_and_nobody_is_root(composed: Composed) -> None:
    for service in SERVICES:
        container = composed.container(service)
        binds = {mount["Destination"] for mount in container["Mounts"]}
        assert ("/var/run/docker.sock" in binds) == (service == "control")
        assert container["Config"]["User"] == "10001:10001"
        assert container["HostConfig"]["ReadonlyRootfs"]
        assert container["HostConfig"]["CapDrop"] == ["ALL"]
        assert container["HostConfig"]["Memory"] > 0
    assert composed.container("postgres")["Config"]["User"] == "999"


def test_no_secret_is_seen_by_who_may_look_at_containers(composed: Composed) -> None:
    every = composed.compose("ps", "-q").split()
    assert SECRET not in composed.docker("inspect", *every)


def test_coordinators_share_a_network_with_the_api_and_neither_database_nor_redis(
    composed: Composed,
) -> None:
    (network,) = json.loads(composed.docker("network", "inspect", composed.network))
    members = {member["Name"] for member in network["Containers"].values()}
    assert [name for name in members if composed.project in name] == [
        composed.container("api")["Name"].lstrip("/")
    ]
    assert network["Internal"]
    assert network["Options"]["com.docker.network.bridge.inhibit_ipv4"] == "true"
