"""Who waits while a daemon takes its time over a network? Those who need that one, nobody else."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import docker.errors
import pytest
import requests
from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.docker_host.container.networks import Networks
from cluster.worker_host import Labels, Launch, ProcessRole

from autoscaler.job_network import JobNetwork

JOB1 = Launch(
    labels=Labels(process_id="w1", job_id="job1", role=ProcessRole.WORKER, attempt=1, fence=1),
    command=("true",),
    env={},
    node="n1",
)
SLOW, BRISK = DaemonEndpoint(url="unix:///slow"), DaemonEndpoint(url="unix:///brisk")


@dataclass
class Daemon:
    """Knows about networks what these tests need."""

    may_answer: threading.Event = field(default_factory=threading.Event)
    is_asked: threading.Event = field(default_factory=threading.Event)
    made: dict[str, dict[str, Any]] = field(default_factory=dict)
    refusal: int | None = None

    def info(self) -> dict[str, Any]:
        return {"Swarm": {"LocalNodeState": "inactive"}}

    def containers(self, **_: Any) -> list[Any]:
        return []

    def networks(self, *, names: tuple[str, ...] = (), **_: Any) -> list[dict[str, Any]]:
        """By name, or else those of the job."""
        job = [name for name in self.made if "job" in name]
        return [self.made[name] for name in names or job if name in self.made]

    def create_network(self, name: str, *, labels: dict[str, str], **_: Any) -> dict[str, Any]:
        self.is_asked.set()
        assert self.may_answer.wait(90)
        if name in self.made:
            raise refused(HTTPStatus.CONFLICT)
        self.made[name] = {"Id": f"{name}-id", "Name": name, "Created": "1", "Labels": labels}
        return self.made[name]

    def remove_network(self, network_id: str) -> None:
        if self.refusal is not None:
            raise refused(self.refusal)
        self.made.pop(network_id.removesuffix("-id"))


def refused(status: int) -> docker.errors.APIError:
    response = requests.Response()
    response.status_code = status
    kind = docker.errors.NotFound if status == HTTPStatus.NOT_FOUND else docker.errors.APIError
    return kind("refused", response, explanation="out of ink")


@dataclass
class Daemons:
    """As `Connections`."""

    slow: Daemon = field(default_factory=Daemon)
    brisk: Daemon = field(default_factory=Daemon)

    def quick(self, endpoint: DaemonEndpoint) -> Daemon:
        return self.slow if endpoint == SLOW else self.brisk

    patient = quick


@pytest.fixture
def daemons() -> Iterator[Daemons]:
    daemons = Daemons()
    daemons.brisk.may_answer.set()
    yield daemons
    daemons.slow.may_answer.set()


@pytest.fixture
def networks(daemons: Daemons) -> Networks:
    return Networks(
        installation="t",
        job_network=JobNetwork.ISOLATED,
        coordinator_network="coordinators",
        connections=daemons,  # type: ignore[arg-type]
    )


def remove_unused(networks: Networks, endpoint: DaemonEndpoint) -> None:
    networks.remove_unused(endpoint, (SLOW, BRISK), also_used_by=tuple)


def test_a_slow_daemon_holds_up_neither_other_daemons_nor_the_control_loop(
    networks: Networks, daemons: Daemons
) -> None:
    with ThreadPoolExecutor() as pool:
        slow = pool.submit(networks.of_job, JOB1, SLOW, (SLOW, BRISK))
        assert daemons.slow.is_asked.wait(90)
        brisk = pool.submit(networks.of_job, JOB1, BRISK, (SLOW, BRISK))
        assert brisk.result(20) == "concertina-t-job1-id"
        of_service = pool.submit(lambda: [*networks.of_coordinator(JOB1, BRISK)])
        assert of_service.result(20) == ["coordinators-id"]
        for endpoint in (SLOW, BRISK):
            pool.submit(remove_unused, networks, endpoint).result(20)
        assert not slow.done()
        daemons.slow.may_answer.set()
        assert slow.result(20) == "concertina-t-job1-id"
    assert set(daemons.slow.made) == {"concertina-t-job1"}
    assert set(daemons.brisk.made) == {"coordinators"}


def test_two_service_processes_that_make_a_network_at_once_use_the_same(
    networks: Networks, daemons: Daemons
) -> None:
    with ThreadPoolExecutor() as pool:
        ours = pool.submit(networks.of_job, JOB1, SLOW, (SLOW,))
        assert daemons.slow.is_asked.wait(90)
        name = "concertina-t-job1"
        daemons.slow.made[name] = {"Id": "theirs", "Name": name, "Created": "0"}
        daemons.slow.may_answer.set()
        assert ours.result(20) == "theirs"


@pytest.mark.parametrize(
    ("status", "is_told"), [(400, True), (403, True), (500, True), (404, False)]
)
def test_a_network_that_stays_is_told_of(
    networks: Networks,
    daemons: Daemons,
    caplog: pytest.LogCaptureFixture,
    status: int,
    is_told: bool,  # noqa: FBT001
) -> None:
    networks.of_job(JOB1, BRISK, (BRISK,))
    daemons.brisk.refusal = status
    with caplog.at_level(logging.WARNING):
        remove_unused(networks, BRISK)
    assert ("out of ink" in caplog.text) is is_told
