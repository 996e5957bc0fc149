"""How does a Ray cluster of this machine run? A head and some nodes, each a foreground `ray start`.

The head gives nothing, and each node some slots: as in a real cluster, only smaller. Nodes come up
one after the other, because Ray's daemon gives itself up when its helpers need long to start.
"""

from __future__ import annotations

import importlib.util
import os
import secrets
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cluster.ray_host.kind import link_environment

from local_stack import checkout as checkouts
from local_stack.checkout import Checkout
from local_stack.processes.child_process import ProcessSpec
from local_stack.processes.servers import NoServer
from local_stack.stack_record import write_private

NODES: Final = 2
_ADDRESS: Final = "127.0.0.1"
_OBJECT_STORE_BYTES: Final = 80_000_000  # Ray's least; nothing of ours is in it
_IS_UP: Final = b"Ray runtime started."
PORTS_OF_HELPERS: Final = (  # a daemon that is not told waits 15 s for its helpers to choose
    "dashboard-agent-grpc-port",
    "dashboard-agent-listen-port",
    "metrics-export-port",
    "runtime-env-agent-port",
)
_PORTS_EACH: Final = 20  # some may be taken
_AFTER_OTHERS: Final = 500  # ports, where other stacks of this machine look for theirs
_STOP_SECONDS: Final = 15.0


class NoRay(NoServer):
    """Ray is not installed. Let .venv/bin/uv pip install -r requirements-ray.lock reach it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnRay:
    """A cluster for one run of the stack."""

    checkout: Checkout
    port: int

    @property
    def nodes_dir(self) -> Path:
        """What its nodes have on their own disk."""
        return self.checkout.state_dir / "ray-nodes"

    @property
    def token_file(self) -> Path:
        return self.checkout.state_dir / "ray-token"

    def environment(self) -> dict[str, str]:
        """What the service has to know of it."""
        return {
            "CONCERTINA_WORKER_HOST": "ray",
            "CONCERTINA_RAY_ADDRESS": f"{_ADDRESS}:{self.port}",
            "CONCERTINA_RAY_TOKEN_FILE": str(self.token_file),
            "CONCERTINA_RAY_NODE_DIR": str(self.nodes_dir),
        }

    def specs(self, names: tuple[str, ...], *, slots: int, has_gpus: bool) -> Iterator[ProcessSpec]:
        """The head, then each node; start one when the one before it is up."""
        client_port = checkouts.free_port(self.port + 1)
        head = ("--head", f"--port={self.port}", f"--ray-client-server-port={client_port}")
        nothing = ("--num-cpus=0", "--num-gpus=0", "--include-dashboard=false")
        yield self._spec(0, "ray-head", *head, *nothing, f"--temp-dir={self._session_dir}")
        gives = f"--num-gpus={slots}" if has_gpus else "--num-gpus=0"
        for place, name in enumerate(names, start=1):
            yield self._spec(
                place,
                f"ray-{name}",
                f"--address={_ADDRESS}:{self.port}",
                *(f"--num-cpus={slots}", gives, f"--labels=concertina.io/node={name}"),
            )

    @property
    def _session_dir(self) -> Path:
        return self.checkout.runtime_dir / "ray"

    def _ports_of_helpers(self, place: int) -> Iterator[str]:
        """Yield options, each with a port that nobody has, or takes soon for another node."""
        port = self.port + _PORTS_EACH * (place + 1)
        for helper in PORTS_OF_HELPERS:
            port = checkouts.free_port(port + 1)
            yield f"--{helper}={port}"

    def _spec(self, place: int, name: str, *options: str) -> ProcessSpec:
        log = self.checkout.logs_dir / f"{name}.log"
        return ProcessSpec(
            name=name,
            command=(
                *(sys.executable, "-m", "ray.scripts.scripts", "start", "--block"),
                *(f"--node-ip-address={_ADDRESS}", "--min-worker-port=0", "--max-worker-port=0"),
                *(f"--object-store-memory={_OBJECT_STORE_BYTES}", "--include-log-monitor=false"),
                *("--disable-usage-stats", *self._ports_of_helpers(place), *options),
            ),
            log=log,
            working_directory=self.checkout.root,
            environment=link_environment(os.environ, token_file=self.token_file),
            is_ready=_says(_IS_UP, log),
            stop_seconds=_STOP_SECONDS,
        )


def prepare(checkout: Checkout, *, preferred_port: int) -> OwnRay:
    """A cluster that only we have the token of.

    Raises:
        NoRay: it is not installed.
    """
    if importlib.util.find_spec("ray") is None:
        raise NoRay(NoRay.__doc__)
    port = checkouts.free_port(preferred_port + _AFTER_OTHERS)
    made = OwnRay(checkout=checkout, port=port)
    if not made.token_file.exists():
        write_private(made.token_file, secrets.token_hex(32))
    return made


def _says(words: bytes, log: Path) -> Callable[[], bool]:
    """True once the process has written it from now on."""
    start = log.stat().st_size if log.exists() else 0

    def look() -> bool:
        if not log.exists():
            return False
        with log.open("rb") as written:
            written.seek(start)
            return words in written.read()

    return look
