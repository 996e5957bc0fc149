"""What is known of a node whose daemon cannot describe one of its containers?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import docker.errors
import pytest
import requests
from cluster.docker_host.connection.daemons import Daemons
from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.docker_host.container import labels
from cluster.docker_host.lifecycle.inventory import Inventory
from cluster.worker_host import Labels, ProcessPhase, ProcessRole

ENDPOINT = DaemonEndpoint(url="unix:///nowhere")
CREATED = 1_700_000_000


@dataclass
class Daemon:
    """Containers, each with its status; describing one may fail, and takes time."""

    statuses: dict[str, str]
    labels: dict[str, dict[str, str]] = field(default_factory=dict)
    failures: dict[str, Exception] = field(default_factory=dict)
    seconds: float = 0.0
    clock: float = 0.0

    def containers(self, **_: Any) -> list[dict[str, Any]]:
        return [
            {
                "Id": name,
                "State": status,
                "Created": CREATED,
                "Labels": self.labels.get(name, told(name)),
            }
            for name, status in self.statuses.items()
        ]

    def inspect_container(self, name: str) -> dict[str, Any]:
        self.clock += self.seconds
        if name in self.failures:
            raise self.failures[name]
        moment = "2026-01-01T00:00:00Z"
        state = {
            "Status": self.statuses[name],
            "StartedAt": moment,
            "FinishedAt": moment,
            "ExitCode": 0,
            "OOMKilled": False,
            "Error": "",
        }
        return {"Name": f"/{name}", "Config": {"Labels": told(name)}, "State": state}

    def quick(self, _: DaemonEndpoint) -> Daemon:
        """As `Connections`."""
        return self


def told(name: str) -> dict[str, str]:
    who = Labels(process_id=name, job_id="job1", role=ProcessRole.WORKER, attempt=1, fence=1)
    return labels.of_process(who, node="n1", installation="t")


def inventory(daemon: Daemon) -> Inventory:
    connections: Any = daemon
    return Inventory(
        installation="t",
        daemons=Daemons(endpoints=lambda: {"n1": ENDPOINT}, connections=connections),
        now=lambda: daemon.clock,
    )


def phases(inventory: Inventory) -> dict[str, ProcessPhase]:
    processes = [one.process for one in inventory.look().by_endpoint[ENDPOINT]]
    return {process.labels.process_id: process.phase for process in processes if process}


RUNNING, EXITED = ProcessPhase.RUNNING, ProcessPhase.EXITED


@pytest.mark.parametrize(
    "failure", [docker.errors.APIError("input/output error"), requests.ReadTimeout()]
)
def test_a_container_that_cannot_be_described_counts_as_running_and_hides_no_other(
    failure: Exception,
) -> None:
    daemon = Daemon(
        statuses={"a": "exited", "b": "exited", "c": "running"}, failures={"b": failure}
    )
    seen = inventory(daemon)
    assert phases(seen) == {"a": EXITED, "b": RUNNING, "c": RUNNING}
    (row,) = [one for one in seen.look().by_endpoint[ENDPOINT] if one.container == "b"]
    assert (row.status, row.labels.process_id) == ("running", "b")
    assert row.process is not None
    assert (row.process.node, row.process.started_at.timestamp()) == ("n1", CREATED)
    assert seen.look().silent_nodes == {}
    daemon.failures.clear()
    assert phases(seen)["b"] is EXITED


def test_a_daemon_that_describes_slowly_tells_the_rest_next_time() -> None:
    daemon = Daemon(statuses=dict.fromkeys("abc", "exited"), seconds=6.0)
    seen = inventory(daemon)
    assert phases(seen) == {"a": EXITED, "b": EXITED, "c": RUNNING}
    assert phases(seen) == {"a": EXITED, "b": EXITED, "c": EXITED}
