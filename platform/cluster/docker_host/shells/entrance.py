"""How is the attendant started in a worker's container? As `docker exec` does, as the job's user.

What Docker starts there has the container's user, bounds, network, mounts and capabilities, which
are none, and its variables. A shell adds the job's secrets, as it did for the worker.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import docker.errors

from cluster.docker_host.connection.connections import Connections, asking_for, talking_to, words
from cluster.docker_host.connection.daemons import Daemons
from cluster.docker_host.container import secrets_file
from cluster.docker_host.lifecycle.inventory import Inventory
from cluster.docker_host.shells.stream import ContainerShell
from cluster.shells.program import ATTENDANT
from cluster.worker_host import CannotEnter, ProcessRole, WorkerHostError, WorkerNotThere

_NO_PYTHON: Final = "The image of this job has no python3, which a shell beside its workers needs."
_FIND_PYTHON: Final = (
    "for python in python3 python; do"
    ' if command -v "$python" >/dev/null; then exec "$python" -I -c "$1"; fi;'
    f' done; echo "{_NO_PYTHON}" >&2; exit 127'
)
_COMMAND: Final = (
    *secrets_file.PROLOGUE,
    *("/bin/sh", "-c", _FIND_PYTHON, "concertina", ATTENDANT),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerEntrance:
    """Leads into containers of workers, and no others."""

    daemons: Daemons
    inventory: Inventory
    connections: Connections

    def enter(self, process_id: str, *, node: str) -> ContainerShell:
        """See `WorkerEntrance`."""
        found = self.inventory.find(process_id, self.daemons.of(node))
        if found is None or found.labels.role is not ProcessRole.WORKER:
            raise WorkerNotThere(f"{process_id} has no container on {node}.")
        if found.status != "running":
            raise WorkerNotThere(f"The container of {process_id} does not run: {found.status}.")
        with asking_for(node), talking_to(found.endpoint):
            client = self.connections.patient(found.endpoint)
            try:
                made = client.exec_create(found.container, list(_COMMAND), stdin=True)
                opened = client.exec_start(made["Id"], socket=True)
            except docker.errors.APIError as refusal:
                raise _refused(process_id)(words(refusal)) from refusal
        return ContainerShell(opened, why_over=_refused(process_id))


def _refused(process_id: str) -> Callable[[str], WorkerHostError]:
    return lambda said: CannotEnter(f"Nothing can be started beside {process_id}: {said}")
