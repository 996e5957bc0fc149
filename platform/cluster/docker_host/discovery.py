"""Which GPUs does a node have? Asked in a container, where jobs see them, too.

`nvidia-smi -L` counts as NVIDIA's management library (NVML) does. The runtime named `nvidia`, which
NVIDIA's container toolkit registers with the daemon, brings it into any image.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any, Final

import docker.errors

from cluster.docker_host.connection.connections import (
    Client,
    Connections,
    asking,
    talking_to,
    words,
)
from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.docker_host.container import labels
from cluster.gpu_listing import Gpu, parse
from cluster.worker_host import WorkerHostError

_RUNTIME: Final = "nvidia"
_LISTING: Final = "concertina.gpu-listing"  # the label of a container that lasts for one question
_PATIENCE_SECONDS: Final = 120  # a driver that has to wake its GPUs first takes some for each


class NodeDriverDoesNotAnswer(WorkerHostError):
    """The node has NVIDIA's runtime, but cannot say which GPUs there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """Finds which GPUs the nodes of one installation have."""

    installation: str
    worker_image: str  # has to be on the node already
    connections: Connections

    def gpus(self, endpoint: DaemonEndpoint) -> tuple[Gpu, ...]:
        """Return them in the order of their indices; none where the daemon has no runtime for them.

        Of one daemon one question at a time: it removes what others have left there.

        Raises:
            NodeDriverDoesNotAnswer: nobody can tell; that is not the same as none.
            HostUnavailable: the daemon does not answer.
        """
        with asking(endpoint):
            client = self.connections.patient(endpoint)
            runtimes: dict[str, Any] = client.info().get("Runtimes") or {}
        if _RUNTIME not in runtimes:
            return ()
        try:
            with talking_to(endpoint):
                self._remove_leftovers(client)
                return parse(self._listing(client))
        except docker.errors.APIError as refusal:
            raise NodeDriverDoesNotAnswer(f"{endpoint.url}: {words(refusal)}") from refusal

    def _remove_leftovers(self, client: Client) -> None:
        """Remove containers of processes that died while they looked."""
        wanted = [*labels.of_installation(self.installation), _LISTING]
        for one in client.containers(all=True, filters={"label": wanted}):
            with contextlib.suppress(docker.errors.APIError):
                client.remove_container(one["Id"], force=True, v=True)

    def _listing(self, client: Client) -> str:
        made = client.create_container_from_config(self._config())["Id"]
        try:
            client.start(made)
            code = client.wait(made, timeout=_PATIENCE_SECONDS)["StatusCode"]
            said: str = client.logs(made).decode(errors="replace")
        finally:
            with contextlib.suppress(docker.errors.APIError):
                client.remove_container(made, force=True, v=True)
        if code:
            words = " ".join(said.split()) or f"exit {code}"
            raise NodeDriverDoesNotAnswer(f"NVIDIA's driver does not answer: {words}")
        return said

    def _config(self) -> dict[str, Any]:
        return {
            "Image": self.worker_image,
            "Entrypoint": ["nvidia-smi", "-L"],
            "Cmd": [],
            "Env": ["NVIDIA_VISIBLE_DEVICES=all", "NVIDIA_DRIVER_CAPABILITIES=utility"],
            "Labels": {labels.INSTALLATION: self.installation, _LISTING: ""},
            "HostConfig": {
                "Runtime": _RUNTIME,
                "NetworkMode": "none",
                "CapDrop": ["ALL"],
                "SecurityOpt": ["no-new-privileges"],
            },
        }
