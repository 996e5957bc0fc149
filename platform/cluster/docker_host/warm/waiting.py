"""Which containers wait warm on a daemon? What is left over of them, by whomever, goes.

What waits has a container and a folder. A folder without a container, or a container without a
folder that no process has taken over, are what a dead service process left.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import docker.errors

from cluster.docker_host.connection.connections import Connections, talking_to
from cluster.docker_host.connection.endpoint import Endpoint
from cluster.docker_host.container import containers, labels
from cluster.docker_host.container.observing import ENDED, RUNNING
from cluster.docker_host.record.records import Records
from cluster.docker_host.record.warm_folders import WarmFolder, WarmFolders

_LAST_LINES: Final = 1
_CREATED: Final = "created"
_REMOVING: Final = "removing"

# Guessed: a shorter time ends imports that a busy machine or a slow disk only delays; a longer one
# lets an import that hangs keep all others of its node from getting warm for so long.
WARM_WITHIN_SECONDS: Final = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A container that nobody has taken over yet."""

    warm_id: str
    container: str  # Docker's id
    status: str
    age_seconds: float
    folder: WarmFolder

    @property
    def is_warm(self) -> bool:
        return self.status in RUNNING and self.folder.is_warm

    @property
    def has_ended(self) -> bool:
        return self.status in ENDED

    @property
    def is_abandoned(self) -> bool:
        """Whoever made it died before its start: who looks holds the lock, so nobody makes any."""
        return self.status == _CREATED

    @property
    def is_stuck(self) -> bool:
        """Its import hangs, most likely."""
        too_long = self.age_seconds > WARM_WITHIN_SECONDS
        return too_long and self.status in RUNNING and not self.folder.is_warm

    @property
    def is_getting_warm(self) -> bool:
        return self.status in RUNNING and not self.folder.is_warm and not self.is_stuck


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingRoom:
    """What waits on the daemons of one installation; used by one thread at a time."""

    installation: str
    connections: Connections
    records: Records
    folders: WarmFolders

    def look(self, endpoint: Endpoint, by_node: Mapping[str, Endpoint]) -> list[Waiting]:
        """Raises: HostUnavailable, docker.errors.APIError."""
        for unwanted in self.folders.unwanted():
            unwanted.remove()
        with talking_to(endpoint):
            wanted = {"label": labels.of_all_warm(self.installation)}
            rows = self.connections.quick(endpoint).containers(all=True, filters=wanted)
        ids = {row["Id"]: row["Labels"][labels.WARM] for row in rows if self._waits(row)}
        folders = self.folders.all()  # after: what is taken over meanwhile is not among these
        mine = {name: one for name, one in folders.items() if _is_of(one, endpoint, by_node)}
        self._remove_folders(set(mine) - set(ids.values()))
        found = [row for row in rows if ids.get(row["Id"]) in folders]
        for container in set(ids) - {row["Id"] for row in found}:
            if not self._is_taken(ids[container]):
                self._remove_container(container, endpoint)
        return [
            Waiting(
                warm_id=ids[row["Id"]],
                container=row["Id"],
                status=row["State"],
                age_seconds=folders[ids[row["Id"]]].age_seconds(),
                folder=folders[ids[row["Id"]]],
            )
            for row in found
        ]

    def remove(self, waiting: Waiting, endpoint: Endpoint) -> None:
        """Unless somebody takes it over just now."""
        taken = self.folders.take_out(waiting.warm_id)
        if taken is not None:
            self._remove_container(waiting.container, endpoint)
            taken.remove()

    def last_words(self, waiting: Waiting, endpoint: Endpoint) -> str:
        """Why one ended by itself, as far as it can be told."""
        client = self.connections.quick(endpoint)
        with talking_to(endpoint):
            code = client.inspect_container(waiting.container)["State"]["ExitCode"]
            said: bytes = client.logs(waiting.container, tail=_LAST_LINES)
        text = " ".join(said.decode(errors="replace").split())
        return f"one ended with exit code {code}" + (f": {text}" if text else "")

    def _waits(self, row: dict[str, Any]) -> bool:
        """By its name: one that was taken over has that of its process. One that goes does not."""
        names = [name.removeprefix("/") for name in row["Names"] or ()]
        warm_id = row["Labels"][labels.WARM]
        is_there = row["State"] != _REMOVING
        return (
            is_there and containers.warm_name_of(warm_id, installation=self.installation) in names
        )

    def _remove_folders(self, warm_ids: Iterable[str]) -> None:
        """Those of containers that are not there."""
        for warm_id in warm_ids:
            taken = self.folders.take_out(warm_id)
            if taken is not None:
                taken.remove()

    def _is_taken(self, warm_id: str) -> bool:
        return any(record.warm.warm_id() == warm_id for record in self.records.all())

    def _remove_container(self, container: str, endpoint: Endpoint) -> None:
        with talking_to(endpoint), contextlib.suppress(docker.errors.NotFound):
            client = self.connections.patient(endpoint)
            client.remove_container(container, force=True, v=True)


def _is_of(folder: WarmFolder, endpoint: Endpoint, by_node: Mapping[str, Endpoint]) -> bool:
    """Whether its container is there, or on a node that nobody knows any more."""
    kind = folder.kind()
    return kind is not None and by_node.get(kind.node, endpoint) == endpoint
