"""A node where containers wait warm, and what tests look at there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import docker
from cluster.docker_host.connection.endpoint import Endpoint
from cluster.docker_host.container.containers import Confinement
from cluster.docker_host.host import DockerHost
from cluster.docker_host.parts import Parts
from cluster.worker_host import Labels, Launch, Mount, Role, WarmWish

from tests.docker_daemon import DockerDaemon, remove_everything
from tests.python_image import SCRIPTS, python_image

from .conftest import until

MIRROR: Final = ("python", f"{SCRIPTS}/mirror.py")
MIB: Final = 1 << 20


@dataclass
class WarmPool:
    """A node where containers wait."""

    host: DockerHost
    daemon: DockerDaemon
    image: str
    wishes: tuple[WarmWish, ...] = ()

    @property
    def state(self) -> Path:
        return self.host.state_dir

    @property
    def client(self) -> docker.APIClient:
        return self.daemon.client()

    def keep(self, count: int) -> None:
        """Have so many, and all warm."""
        wish = WarmWish(node="n1", image=self.image, count=count, targets=("/checkpoints",))
        self.wishes = (wish,)
        until(lambda: self.stocks() == [(count, "")] and len(self.waiting()) == count)

    def stocks(self) -> list[tuple[int, str]]:
        return [(stock.warm, stock.note) for stock in self.host.keep_warm(*self.wishes)]

    def waiting(self) -> set[str]:
        """Docker's ids of those that nobody has taken over."""
        return {row["Id"] for row in self.rows() if ".warm-" in row["Names"][0]}

    def rows(self) -> list[dict[str, Any]]:
        wanted = {"label": f"concertina.installation={self.host.installation}"}
        rows: list[dict[str, Any]] = self.client.containers(all=True, filters=wanted)
        return rows

    def container(self, process_id: str) -> dict[str, Any]:
        name = f"concertina-{self.host.installation}-{process_id}"
        details: dict[str, Any] = self.client.inspect_container(name)
        return details

    def launch(self, process_id: str, *command: str, job: str = "job1", **options: Any) -> Launch:
        who = Labels(process_id=process_id, job_id=job, role=Role.WORKER, attempt=1, fence=7)
        checkpoints = Mount(source=self.state / "jobs" / job / "checkpoints", target="/checkpoints")
        known = {"env": {}, "node": "n1", "mounts": (checkpoints,), "alias": process_id}
        launch = Launch(labels=who, command=command, **{**known, **options})
        return self.another().memory.bounded(launch, self.endpoint)

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(url=self.daemon.url)

    def another(self) -> Parts:
        """The inner parts of another service process on the same node."""
        user = self.host.user
        return Parts(
            installation=self.host.installation,
            state_dir=self.state,
            endpoints=self.host.endpoints,
            worker_image=self.image,
            job_network=self.host.job_network,
            coordinator_network=self.host.coordinator_network,
            confinement=Confinement(
                user=user, pids=64, open_files=256, log_bytes=MIB, network=self.host.job_network
            ),
            answer_seconds=self.host.answer_seconds,
            registry_patience_seconds=self.host.registry_patience_seconds,
            daemon_patience_seconds=self.host.daemon_patience_seconds,
            warm_modules=self.host.warm_modules,
        )

    def words(self, process_id: str, *, job: str = "job1") -> list[str]:
        return [line.text for line in self.host.logs((process_id,), job_id=job)]

    def took_over(self, process_id: str) -> bool:
        """Whether the process is in a container that waited."""
        return (self.state / "containers" / process_id / "warm").exists()


@contextlib.contextmanager
def warm_pool_on(daemon: DockerDaemon, folder: Path) -> Iterator[WarmPool]:
    endpoint = Endpoint(url=daemon.url)
    installation = f"w{os.getpid()}"
    image = python_image(daemon.url)
    host = DockerHost(
        state_dir=folder / "state",
        installation=installation,
        endpoints=lambda: {"n1": endpoint},
        worker_image=image,
        user="10001:10001",
        coordinator_network=f"{installation}-coordinators",
        answer_seconds=90.0,  # the tests' machine may be busy
        warm_modules=("json", "concertina_worker"),
    )
    try:
        yield WarmPool(host=host, daemon=daemon, image=image)
    finally:
        host.close()
        remove_everything(daemon.client(), label=f"concertina.installation={installation}")


def waits(process_id: str) -> tuple[str, ...]:
    """A command that runs until it is stopped."""
    return (*MIRROR, f"/checkpoints/{process_id}", "wait")


class Crash(BaseException):
    """The service process was killed here."""
