"""Which processes do containers of jobs have at this moment? By their labels, and from `/proc`.

No daemon is asked, since it may be dead or frozen: it keeps what it knows of a container in a file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import psutil
from cluster.docker_host.container import labels
from cluster.worker_host import Labels, ProcessRole

from concertina_worker.protocol import Env
from local_stack.chaos.containers.machine import ChaosMachine, container_of, processes_below
from local_stack.chaos.containers.machines import Machines
from local_stack.chaos.observation.processes import DEAD, JobProcess, JobProcessKind, began_at

DESCRIPTION: Final = "config.v2.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """A container of a job."""

    labels: Labels
    gpus: tuple[str, ...]  # as nobody else's are called


def running(machines: Machines, installation: str) -> list[JobProcess]:
    """The processes in containers of one installation, on all nodes."""
    return [one for node in machines.nodes for one in on(node, installation)]


def on(node: ChaosMachine, installation: str) -> Iterator[JobProcess]:
    """The processes in containers on one node."""
    for shim in node.shims():
        container_id = container_of(shim.info["cmdline"], node.folder)
        file = node.data / "containers" / container_id / DESCRIPTION
        with suppress(FileNotFoundError, ValueError):  # it is being made or removed
            found = described(json.loads(file.read_text()), node.name, installation)
            if found is not None:
                yield from _processes(shim, found)


def described(config: Mapping[str, Any], node: str, installation: str) -> Container | None:
    """Return what the daemon has written down; None: it is of nobody's job."""
    carried = config["Config"]["Labels"] or {}
    process = labels.read(carried)
    if process is None or carried.get(labels.INSTALLATION) != installation:
        return None
    words = (word.partition("=") for word in config["Config"]["Env"] or ())
    indices = next((value for name, _, value in words if name == Env.GPU_INDICES), "")
    gpus = tuple(f"{index} of {node}" for index in indices.split(",") if index)
    return Container(labels=process, gpus=gpus)


def _processes(shim: psutil.Process, container: Container) -> Iterator[JobProcess]:
    who = container.labels
    is_worker = who.role is ProcessRole.WORKER
    for process in processes_below(shim):
        with suppress(psutil.Error):  # it has ended meanwhile
            if process.status() not in DEAD:
                yield JobProcess(
                    process=process,
                    part=JobProcessKind.WORKER if is_worker else JobProcessKind.COORDINATOR,
                    job_id=who.job_id,
                    worker_id=who.process_id if is_worker else "",
                    gpus=container.gpus if is_worker else (),
                    started_at=began_at(process),
                )
