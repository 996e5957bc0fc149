"""How busy are the GPUs of a node? A container of ours tells, which goes on asking the driver.

One for each daemon that has NVIDIA's runtime, started when workers run there. It asks once in
`SAMPLE_SECONDS`; what it wrote last is read from its log. So a look costs no new process, and the
driver is asked by one process however many jobs and looks there are.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
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
from cluster.usage.readings import SAMPLE_SECONDS, GpuSample

_FIELDS: Final = "uuid,index,utilization.gpu,memory.used,power.draw"
_COMMAND: Final = (
    *("nvidia-smi", f"--query-gpu={_FIELDS}", "--format=csv,noheader,nounits"),
    *("-l", str(SAMPLE_SECONDS)),
)
_RUNTIME: Final = "nvidia"
_TELLER: Final = "concertina.gpu-teller"  # its label
_MOST_LINES: Final = 64  # of two answers, for nodes of up to 32 GPUs
_OLDEST_SECONDS: Final = 120  # guessed: above what clocks differ by; older answers mean nothing
_AGAIN_SECONDS: Final = 300.0  # guessed: where none can run somebody has to act first
_LOG_BYTES: Final = "1m"

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuTeller:
    """Tells of the GPUs of one installation's nodes; remembers on which it cannot run."""

    installation: str
    worker_image: str  # has to be on the node already
    connections: Connections
    clock: Callable[[], float] = time.monotonic
    _not_before: dict[DaemonEndpoint, float] = field(default_factory=dict)

    def read(self, endpoint: DaemonEndpoint) -> Mapping[str, GpuSample]:
        """What it told last, by UUID and by number; nothing where none runs, or has just begun.

        One that has ended is not started anew before some minutes are over.

        Raises:
            HostUnavailable: the daemon does not answer.
        """
        if self.clock() < self._not_before.get(endpoint, 0.0):
            return {}
        try:
            with talking_to(endpoint):
                client = self.connections.quick(endpoint)
                found = self._found(client)
                for row in found:
                    if row["State"] == "running":
                        since = int(time.time()) - _OLDEST_SECONDS
                        return parse(client.logs(row["Id"], tail=_MOST_LINES, since=since))
                    client.remove_container(row["Id"], force=True, v=True)
                if found or not self._begins(client):
                    self._not_before[endpoint] = self.clock() + _AGAIN_SECONDS
        except docker.errors.APIError as refusal:
            self._not_before[endpoint] = self.clock() + _AGAIN_SECONDS
            extra = {"action": "read_gpus"}
            _log.warning("GPUs are not read: %s: %s", endpoint.url, words(refusal), extra=extra)
        return {}

    def remove(self, endpoint: DaemonEndpoint) -> None:
        """Raises: HostUnavailable."""
        with asking(endpoint):
            client = self.connections.patient(endpoint)
            for row in self._found(client):
                with contextlib.suppress(docker.errors.NotFound):
                    client.remove_container(row["Id"], force=True, v=True)

    def _found(self, client: Client) -> Any:
        wanted = [*labels.of_installation(self.installation), _TELLER]
        return client.containers(all=True, filters={"label": wanted})

    def _begins(self, client: Client) -> bool:
        """False where there are no GPUs that a container could see."""
        if _RUNTIME not in (client.info().get("Runtimes") or {}):
            return False
        client.start(client.create_container_from_config(self._config())["Id"])
        return True

    def _config(self) -> dict[str, Any]:
        return {
            "Image": self.worker_image,
            "Entrypoint": [*_COMMAND],
            "Cmd": [],
            "Env": ["NVIDIA_VISIBLE_DEVICES=all", "NVIDIA_DRIVER_CAPABILITIES=utility"],
            "Labels": {labels.INSTALLATION: self.installation, _TELLER: ""},
            "HostConfig": {
                "Runtime": _RUNTIME,
                "NetworkMode": "none",
                "CapDrop": ["ALL"],
                "SecurityOpt": ["no-new-privileges"],
                "LogConfig": {
                    "Type": "json-file",
                    "Config": {"max-size": _LOG_BYTES, "max-file": "2"},
                },
            },
        }


def parse(output: bytes) -> dict[str, GpuSample]:
    """Read what `nvidia-smi` wrote; of each GPU the last line counts."""
    uses: dict[str, GpuSample] = {}
    for line in output.decode(errors="replace").splitlines():
        uuid, *rest = (part.strip() for part in line.split(","))
        if not uuid.startswith("GPU-") or len(rest) != _FIELDS.count(","):
            continue
        index, *numbers = rest
        percent, mebibytes, watts = _numbers(numbers)
        use = GpuSample(
            utilisation=None if percent is None else min(percent / 100, 1.0),
            memory_bytes=None if mebibytes is None else int(mebibytes) << 20,
            power_watts=watts,
        )
        uses[uuid] = uses[index] = use
    return uses


def _numbers(texts: list[str]) -> Iterator[float | None]:
    """None for what a GPU does not tell: `[N/A]`."""
    for text in texts:
        try:
            yield float(text)
        except ValueError:
            yield None
