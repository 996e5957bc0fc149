"""Containers that only the former release knew are removed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from cluster.docker_host.connection.endpoint import Endpoint
from cluster.docker_host.container import labels
from cluster.docker_host.lifecycle import former_release
from cluster.worker_host import Labels, Role

OURS = labels.of_process(
    Labels(process_id="p", job_id="job1", role=Role.WORKER, attempt=1, fence=1),
    node="n1",
    installation="t",
)


@dataclass
class Daemon:
    """In place of `Connections` and of the client that they give."""

    orders: list[tuple[str, str]] = field(default_factory=list)

    def patient(self, _: Endpoint) -> Daemon:
        return self

    def containers(self, *, all: bool, filters: Any) -> list[dict[str, Any]]:  # noqa: A002 - theirs
        assert all
        assert filters == {"label": ["concertina.installation=t", "concertina.warm"]}
        waits = {**OURS, "concertina.warm": "0123456789ab"}
        return [{"Id": "ours", "Labels": OURS}, {"Id": "waits", "Labels": waits}]

    def stop(self, container: str, *, timeout: int) -> None:
        assert timeout
        self.orders.append(("stop", container))

    def remove_container(self, container: str, **_: Any) -> None:
        self.orders.append(("remove", container))


def test_a_container_that_waited_for_a_launch_is_stopped_and_removed_and_no_other() -> None:
    daemon = Daemon()
    connections: Any = daemon
    former_release.end_containers(Endpoint(url="u"), connections, installation="t")
    assert daemon.orders == [("stop", "waits"), ("remove", "waits")]
