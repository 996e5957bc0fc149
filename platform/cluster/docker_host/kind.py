"""How do the processes of jobs run in containers? As the installation's variables say."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import ClassVar, Final, Self
from urllib.parse import urlsplit

from autoscaler.job_network import JobNetwork
from cluster.docker_host.container.containers import MOST_PROCESSES
from cluster.docker_host.container.job_network import USUAL
from cluster.docker_host.process_environments import ContainerEnvironments
from cluster.docker_host.urls import is_docker_url
from cluster.process_environments import ProcessEnvironments
from cluster.variables import BadEnvironment, EnvironmentVariables
from cluster.worker_host import WorkerHost
from cluster.worker_host_kind import Installation, WorkerHostKind

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
_SOCKET: Final = "unix:///var/run/docker.sock"
_NOBODY_IN_PARTICULAR: Final = (10001, 10001)  # no user of any common image


@dataclass(frozen=True, slots=True, kw_only=True)
class DockerKind(WorkerHostKind):
    """Containers of Docker daemons, one for each machine."""

    node_url_name: ClassVar[str] = "Docker URL"
    node_url_help: ClassVar[str] = (
        "Where its Docker daemon listens: unix:///var/run/docker.sock, tcp://host:2376,"
        " ssh://user@host. Empty: where this installation's settings say."
    )
    why_jobs_are_trusted: ClassVar[str] = ""
    why_no_shells: ClassVar[str] = ""

    docker_url: str  # of nodes that name none of their own
    docker_certs: Path | None  # <node>/{ca,cert,key}.pem for those reached by TLS
    worker_image: str  # of coordinators, and of workers whose job names none
    job_user: tuple[int, int]  # user and group of every container of a job; never root
    job_network: JobNetwork
    coordinator_network: str  # where coordinators reach the api
    pids_limit: int  # processes and threads of one container

    @classmethod
    def read(cls, variables: EnvironmentVariables, *, host_id: str) -> Self:
        network = variables.choice(
            "CONCERTINA_JOB_NETWORK", default=JobNetwork.ISOLATED, among=USUAL
        )
        return cls(
            docker_url=_docker_url(variables),
            docker_certs=variables.folder("CONCERTINA_DOCKER_CERTS"),
            worker_image=_worker_image(variables),
            job_user=_job_user(variables),
            job_network=JobNetwork(network),
            coordinator_network=variables.text(
                "CONCERTINA_COORDINATOR_NETWORK", default=f"concertina-{host_id}-coordinators"
            ),
            pids_limit=variables.whole(
                "CONCERTINA_PIDS_LIMIT", default=MOST_PROCESSES, at_least=16
            ),
        )

    @property
    def platform_image(self) -> str:
        return self.worker_image

    @property
    def networks(self) -> Sequence[JobNetwork]:
        return sorted(JobNetwork, key=lambda one: one is not self.job_network)

    def check(self, installation: Installation) -> None:
        _check_host_id(installation.host_id)
        _check_internal_url(installation.internal_url)

    def complaint_of_node_url(self, url: str) -> str:
        if not url or is_docker_url(url):
            return ""
        return "Write unix:///PATH, ssh://USER@HOST, or tcp://HOST:2376 for one with TLS."

    def host(self, installation: Installation) -> WorkerHost:
        # Here, because only control has containers: other processes never load Docker's client.
        from cluster.docker_host.host import DockerHost  # noqa: PLC0415
        from cluster.docker_host.nodes import DockerNodes  # noqa: PLC0415

        user, group = self.job_user
        return DockerHost(
            state_dir=installation.state_dir,
            installation=installation.host_id,
            endpoints=DockerNodes(default_url=self.docker_url, certificates=self.docker_certs),
            worker_image=self.worker_image,
            user=f"{user}:{group}",
            coordinator_network=self.coordinator_network,
            job_network=self.job_network,
            pids=self.pids_limit,
            log_bounds=installation.log_bounds,
        )

    def process_environments(self, installation: Installation) -> ProcessEnvironments:
        return ContainerEnvironments(
            state_dir=installation.state_dir,
            service_url=installation.internal_url,
            image=self.worker_image,
        )


def _check_host_id(host_id: str) -> None:
    """Check the host id, which is a part of containers' and networks' names.

    Raises:
        BadEnvironment: Docker does not accept such a name.
    """
    if not _NAME.fullmatch(host_id):
        raise BadEnvironment(
            f"CONCERTINA_HOST_ID={host_id!r}: containers are named after it. Use up to 40 letters,"
            " digits, '-', '_' or '.', beginning with a letter or digit."
        )


def _check_internal_url(url: str) -> None:
    """Refuse loopback: a coordinator's container has its own, where no api listens.

    Raises:
        BadEnvironment: the address can only be meant for processes of this machine.
    """
    host = urlsplit(url).hostname or ""
    if host in {"localhost", "::1"} or host.startswith("127."):
        raise BadEnvironment(
            f"CONCERTINA_INTERNAL_URL={url!r}: jobs run in containers, which mean themselves by"
            f" {host}. Use the address at which containers of the network"
            " CONCERTINA_COORDINATOR_NETWORK reach the api, such as http://api:8000."
        )


def _worker_image(variables: EnvironmentVariables) -> str:
    """Require an image with its registry: a bare name is Docker Hub's, where anybody may own it.

    It runs every coordinator, and every worker of a job without an image, with their secrets.
    """
    image = variables.text("CONCERTINA_WORKER_IMAGE", default=_image_of_this_version())
    registry, slash, _ = image.partition("/")
    if slash and (registry == "localhost" or "." in registry or ":" in registry):
        return image
    raise BadEnvironment(
        f"CONCERTINA_WORKER_IMAGE={image!r}: say where the image comes from. Use"
        f" localhost/{image} for one that is built on the nodes and never fetched,"
        f" registry.example.com/{image} for one of your registry, or docker.io/… for one of"
        " Docker Hub, best with its @sha256: digest."
    )


def _image_of_this_version() -> str:
    try:
        return f"localhost/concertina-worker:{version('concertina')}"
    except PackageNotFoundError:  # run from its sources, without an installation
        return "localhost/concertina-worker:latest"


def _docker_url(variables: EnvironmentVariables) -> str:
    url = variables.text("CONCERTINA_DOCKER_URL", default=_SOCKET)
    if urlsplit(url).scheme in {"unix", "tcp", "ssh"}:
        return url
    raise BadEnvironment(
        f"CONCERTINA_DOCKER_URL={url!r}: use unix:///var/run/docker.sock, tcp://host:2376 with"
        " certificates in CONCERTINA_DOCKER_CERTS, or ssh://user@host."
    )


def _job_user(variables: EnvironmentVariables) -> tuple[int, int]:
    """Return this process's user, so that both may read each other's files; but never root.

    Only root can give the folders that it makes to somebody else.
    """
    own = (os.getuid(), os.getgid()) if os.getuid() else _NOBODY_IN_PARTICULAR
    raw = variables.text("CONCERTINA_JOB_USER", default=f"{own[0]}:{own[1]}")
    user, _, group = raw.partition(":")
    if not (user.isdecimal() and group.isdecimal()):
        raise BadEnvironment(
            f"CONCERTINA_JOB_USER={raw!r}: use the numbers of a user and a group, such as"
            " 10001:10001; images know no other names."
        )
    if int(user) == 0 or int(group) == 0:
        raise BadEnvironment(
            f"CONCERTINA_JOB_USER={raw!r}: jobs never run as root. Use numbers above 0, such as"
            " 10001:10001."
        )
    if os.getuid() not in {0, int(user)}:
        raise BadEnvironment(
            f"CONCERTINA_JOB_USER={raw!r}: jobs could not write their checkpoints, because this"
            f" service runs as user {os.getuid()} and cannot give folders away. Remove the"
            " variable, or run the service as that user."
        )
    return int(user), int(group)
