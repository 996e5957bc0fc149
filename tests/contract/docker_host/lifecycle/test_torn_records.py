"""What if a record is torn, by a power cut, say? It counts as none: Docker knows what runs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.docker_host.container import containers
from cluster.docker_host.record.records import ContainerRecord, Records

from tests.contract.conftest import DockerBench, exited, forgotten, is_running, observed, until
from tests.contract.docker_host.docker_view import RUN_FOR_EVER, container_name
from tests.docker_daemon import DockerDaemon

TORN = ["", "{", "\0\0"]


def record_of(bench: DockerBench, process_id: str) -> ContainerRecord:
    return Records(state_dir=bench.host.state_dir).of(process_id)


@pytest.mark.parametrize("torn", TORN)
def test_a_container_is_found_ended_and_removed_by_its_labels(
    torn: str, docker_bench: DockerBench
) -> None:
    docker_bench.launch("w1", RUN_FOR_EVER)
    process = observed(docker_bench.host, "w1")
    record = record_of(docker_bench, "w1")
    for path in (record.process_path, record.stop_path, record.asked_path):
        path.write_text(torn)
    assert observed(docker_bench.host, "w1") == process
    docker_bench.host.stop("w1", grace_seconds=0.0)
    exited(docker_bench.host, "w1")
    scratch = containers.scratch_folder("job1", "w1", state_dir=docker_bench.host.state_dir)
    assert scratch.exists()
    forgotten(docker_bench.host, "w1")
    assert not scratch.exists()


def test_a_container_is_found_though_another_node_is_silent(
    docker_bench: DockerBench, docker_daemon: DockerDaemon
) -> None:
    """On which node it has to be looked for, only the record told."""
    known = {"n0": DaemonEndpoint(url="unix:///nowhere"), **docker_bench.host.endpoints()}
    host = replace(docker_bench.host, endpoints=lambda: known)
    docker_bench.launch("w1", RUN_FOR_EVER)
    record_of(docker_bench, "w1").process_path.write_text("")
    host.stop("w1", grace_seconds=0.0)
    exited(host, "w1")
    host.forget("w1")
    wanted = {"name": container_name(docker_bench, "w1")}
    until(lambda: not docker_daemon.client().containers(all=True, filters=wanted))


@pytest.mark.parametrize("torn", TORN)
@pytest.mark.parametrize("name", ["process.json", "ending.json"])
def test_what_has_no_container_is_started_anew(
    torn: str, name: str, docker_bench: DockerBench
) -> None:
    """As coordinators are, which keep their names."""
    record = record_of(docker_bench, "w1")
    record.folder.mkdir(parents=True)
    (record.folder / name).write_text(torn)

    def start() -> bool:
        docker_bench.launch("w1", RUN_FOR_EVER)
        return is_running(docker_bench.host, "w1")

    until(start)
