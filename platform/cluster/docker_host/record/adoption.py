"""Which process is a container that waited for its launch? Docker cannot tell: its labels are old.

The name of such a container tells the process, and the record of that tells the rest.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import docker.errors

from cluster.docker_host.connection.connections import Connections, talking_to
from cluster.docker_host.connection.endpoint import Endpoint
from cluster.docker_host.container import containers, labels
from cluster.docker_host.record.records import Record, Records
from cluster.worker_host import ObservedProcess


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """Tells what Docker would tell if the container had been made for its launch."""

    installation: str
    records: Records
    connections: Connections

    def labels(self, row: Mapping[str, Any]) -> Mapping[str, str]:
        """Those of a listed container's process.

        One that still waits, or was never ordered, has its own only; one that is being removed may
        have no name any more.
        """
        return self._labels(row["Labels"], next(iter(row["Names"] or ()), ""))

    def details(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """Docker's description, with these labels, and started when it was taken over."""
        config, state = found["Config"], found["State"]
        own = config["Labels"] or {}
        process = self._process(own, found["Name"])
        if process is None:
            return dict(found)
        return {
            **found,
            "Config": {**config, "Labels": self._labels(own, found["Name"])},
            "State": {**state, "StartedAt": process.started_at.isoformat()},
        }

    def filter(self, record: Record) -> list[str]:
        """By which labels Docker finds the container of this process."""
        warm_id = record.warm.warm_id() if record.warm.was_ordered else None
        if warm_id is None:
            return labels.of_one_process(self.installation, record.process_id)
        return labels.of_one_warm(self.installation, warm_id)

    def clear(self, record: Record, endpoints: Iterable[Endpoint]) -> None:
        """Remove a container that was taken over and is nobody's; the lock is held.

        It was never ordered, or nobody can tell any more for which process.

        Raises:
            HostUnavailable: later, then.
        """
        warm_id = record.warm.warm_id()
        if warm_id is None or (record.warm.was_ordered and record.observed() is not None):
            return
        wanted = {"label": labels.of_one_warm(self.installation, warm_id)}
        for endpoint in endpoints:
            client = self.connections.patient(endpoint)
            with talking_to(endpoint), contextlib.suppress(docker.errors.NotFound):
                for row in client.containers(all=True, filters=wanted):
                    client.remove_container(row["Id"], force=True, v=True)
        record.warm.remove()

    def _labels(self, found: Mapping[str, str], name: str) -> Mapping[str, str]:
        process = self._process(found, name)
        if process is None:
            return found
        own = labels.of_process(process.labels, node=process.node, installation=self.installation)
        return {**found, **own}

    def _process(self, found: Mapping[str, str], name: str) -> ObservedProcess | None:
        if not found.get(labels.WARM):
            return None
        process_id = containers.process_of(name.removeprefix("/"), installation=self.installation)
        if process_id is None:
            return None
        record = self.records.of(process_id)
        return record.observed() if record.warm.was_ordered else None
