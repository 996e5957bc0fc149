"""What can a job do from inside its container? Train, and nothing else: a probe tries."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import psutil
import pytest

from tests.end_to_end.in_containers.containers import IMAGE, Containers
from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.submitted_job import SubmittedJob
from tests.end_to_end.waiting import until

NEEDLE = "canary-4f1c9e"  # of another team, wherever it keeps something
METADATA = "169.254.169.254"  # where clouds tell a machine its credentials
pytestmark = pytest.mark.timeout(1800)
NEIGHBOUR = f"""\
import os, pathlib, socket, time
print("{NEEDLE} in the log", flush=True)
pathlib.Path("/checkpoints/needle").write_text("{NEEDLE} in a checkpoint")
listener = socket.create_server(("", 7000))
print("ready", flush=True)
time.sleep(600)
"""


@contextlib.contextmanager
def metadata_here() -> Iterator[None]:
    """The address that clouds have for it is one of this machine's."""
    interface = f"md{os.getpid()}"
    ip("link", "add", interface, "type", "bridge")
    try:
        ip("address", "add", f"{METADATA}/32", "dev", interface)
        ip("link", "set", interface, "up")
        yield
    finally:
        ip("link", "delete", interface)


def ip(*words: str) -> None:
    subprocess.run(("ip", *words), check=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What the probe found, and what there was to be found."""

    probe: dict[str, Any]
    prober: SubmittedJob
    neighbour: SubmittedJob
    services: list[tuple[str, int]]  # that listen on this machine
    reachable: list[list[Any]]  # of them, from a container with a way out


@pytest.fixture(scope="module")
def findings(docker_stack: RunningStack, containers: Containers) -> Iterator[Findings]:
    """A job of one team probes while one of another team runs."""
    with (
        docker_stack.client("language") as language,
        docker_stack.client("vision") as vision,
        metadata_here(),
        socket.create_server(("", 0)) as service,
        contextlib.ExitStack() as endings,
    ):
        neighbour = SubmittedJob.submit(language, job("neighbour", "-c", NEIGHBOUR))
        endings.callback(neighbour.cancel)
        until(lambda: "ready" in neighbour.log_lines(), what="the neighbour runs")
        services = services_here(docker_stack, service.getsockname()[1])
        addresses = [*services, *addresses_of(neighbour, containers)]
        told = json.dumps({"addresses": addresses, "needle": list(NEEDLE)})
        prober = SubmittedJob.submit(
            vision, job("prober", "/scripts/probe.py", env={"PROBE": told})
        )
        reachable = reached_with_a_way_out(addresses, containers)
        until(lambda: prober.is_in("completed"), what="the probe is done")
        probe = json.loads((containers.folder_of(prober.job_id) / "probe.json").read_text())
        yield Findings(
            probe=probe, prober=prober, neighbour=neighbour, services=services, reachable=reachable
        )


def job(name: str, *words: str, **spec: Any) -> dict[str, Any]:
    command = ["python", *words]
    return {"name": name, "image": IMAGE, "command": command, "max_restarts": 0, **spec}


def services_here(stack: RunningStack, port: int) -> list[tuple[str, int]]:
    """The api, and a service that listens on every address of this machine, as databases may."""
    api = int(stack.url.rpartition(":")[2])
    addresses = [
        one.address
        for interface in psutil.net_if_addrs().values()
        for one in interface
        if one.family == socket.AF_INET
    ]
    return [(address, number) for address in addresses for number in (port, api)]


def addresses_of(neighbour: SubmittedJob, containers: Containers) -> list[tuple[str, int]]:
    """Where its worker and its coordinator are in their networks."""
    networks = [
        network
        for container in containers.of_job(neighbour.job_id)
        for network in containers.inspect(container)["NetworkSettings"]["Networks"].values()
    ]
    ports = (7000, 29400)
    assert len(networks) == 3, "a worker in one, a coordinator in two"
    return [(network["IPAddress"], port) for network in networks for port in ports]


def reached_with_a_way_out(
    addresses: list[tuple[str, int]], containers: Containers
) -> list[list[Any]]:
    """The probe's own look, from a container that is not isolated."""
    code = f"import json, probe; print(json.dumps(probe.reached({addresses})))"
    told = containers.docker("run", "--rm", "--workdir=/scripts", IMAGE, "python", "-c", code)
    found: list[list[Any]] = json.loads(told)
    return found


def test_a_job_reaches_its_own_coordinator_and_nobody_else(findings: Findings) -> None:
    outside = [list(one) for one in findings.services if not one[0].startswith("127.")]
    listens_everywhere = findings.services[0][1]
    there = [one for one in outside if one[1] == listens_everywhere]
    assert [METADATA, listens_everywhere] in there
    assert [one for one in there if one not in findings.reachable] == [], "the probe sees nothing"
    assert findings.probe["coordinator"]
    assert findings.probe["reached"] == []


def test_a_job_writes_to_its_own_folders_only(findings: Findings) -> None:
    in_memory = {"/tmp", "/dev/shm", "/dev/mqueue"}  # noqa: S108 - the container's own
    assert set(findings.probe["writable"]) == {
        "/checkpoints",
        "/outputs",
        "/reports",
        "/scratch",
        *in_memory,
    }


def test_a_job_finds_nothing_of_another_teams(findings: Findings) -> None:
    assert findings.probe["needles"] == []
    assert findings.probe["others"] == []


def test_a_job_has_no_rights_beyond_those_of_an_ordinary_user(findings: Findings) -> None:
    assert findings.probe["user"] > 0
    assert findings.probe["granted"] == []
    assert findings.probe["status"] == {
        **dict.fromkeys(("CapEff", "CapBnd", "CapPrm"), "0" * 16),
        "NoNewPrivs": "1",
        "Seccomp": "2",
    }


def test_a_workers_token_opens_nothing_of_the_service(
    findings: Findings, docker_stack: RunningStack
) -> None:
    own, other = findings.prober.job_id, findings.neighbour.job_id
    headers = {"Authorization": f"Bearer {findings.probe['token']}"}
    with httpx.Client(base_url=docker_stack.url, headers=headers, timeout=60) as thief:
        # What a worker holds opens its coordinator, and nothing of the service.
        assert thief.post(f"/internal/v1/jobs/{own}/sync", json={}).status_code == 401
        assert thief.post(f"/internal/v1/jobs/{other}/sync", json={}).status_code == 401
        for path in ("jobs", f"jobs/{own}", f"jobs/{own}/logs", "teams", "pools", "nodes"):
            assert thief.get(f"/api/v1/{path}").status_code == 401, path


def test_a_jobs_token_is_not_to_be_seen_by_who_looks_at_its_container(
    findings: Findings, containers: Containers
) -> None:
    for container in containers.of_job(findings.neighbour.job_id):
        seen = containers.docker("inspect", container)
        assert "CONCERTINA_TOKEN" not in seen
        assert f"{findings.neighbour.job_id}:" not in seen  # how a token begins
