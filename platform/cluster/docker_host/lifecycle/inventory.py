"""Which containers are there, on all daemons that answer?"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from typing import Any, Final

import docker.errors
import requests

from cluster.docker_host.connection.connections import Client, asking
from cluster.docker_host.connection.daemons import Answers, Daemons
from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.docker_host.container import labels
from cluster.docker_host.container.observing import ENDED, RUNNING, observed
from cluster.docker_host.logs.copying import LogSource
from cluster.docker_host.record.records import ContainerRecord
from cluster.worker_host import HostUnavailable, Labels, ObservedProcess, ProcessPhase

_SECONDS: Final = 10.0  # guessed: for the details of all that is new on a daemon; more come later
_RUNNING: Final = "running"

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundContainer:
    """A container of ours, where it is and how it was when somebody looked."""

    container: str  # Docker's id
    endpoint: DaemonEndpoint
    status: str
    labels: Labels
    process: ObservedProcess | None = None  # None: made and not started, going, or not asked for

    def source(self, record: ContainerRecord) -> LogSource:
        """Return what whoever copies its log has to know."""
        return LogSource(
            container=self.container, labels=self.labels, endpoint=self.endpoint, record=record
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """What Docker says. Details are asked for once in each of a container's states."""

    installation: str
    daemons: Daemons
    now: Callable[[], float] = time.monotonic
    _known: dict[tuple[str, str], ObservedProcess | None] = field(default_factory=dict)

    def look(self) -> Answers[tuple[FoundContainer, ...]]:
        """Raises: HostUnavailable, if none answers."""
        answers = self.daemons.ask_all(self._of_daemon)
        found = chain.from_iterable(answers.by_endpoint.values())
        for key in set(self._known.copy()) - {(one.container, one.status) for one in found}:
            self._known.pop(key, None)
        return answers

    def find(self, process_id: str, daemons: Iterable[DaemonEndpoint]) -> FoundContainer | None:
        """Return which container a process has, on which of these; without its details.

        Raises:
            HostUnavailable: on none of those that answer, and not all do.
        """
        silence: HostUnavailable | None = None
        for endpoint in daemons:
            try:
                found = self._find_on(endpoint, process_id)
            except HostUnavailable as problem:
                silence = problem
            else:
                if found is not None:
                    return found
        if silence is not None:
            raise silence
        return None

    def _find_on(self, endpoint: DaemonEndpoint, process_id: str) -> FoundContainer | None:
        wanted = {"label": labels.of_one_process(self.installation, process_id)}
        with asking(endpoint):
            client = self.daemons.connections.quick(endpoint)
            rows = client.containers(all=True, filters=wanted)
        for row in rows:
            who = labels.read(row["Labels"])
            if who is not None and who.process_id == process_id:
                return FoundContainer(
                    container=row["Id"], endpoint=endpoint, status=row["State"], labels=who
                )
        return None

    def _of_daemon(self, endpoint: DaemonEndpoint, client: Client) -> tuple[FoundContainer, ...]:
        wanted = {"label": labels.of_installation(self.installation)}
        give_up_at = self.now() + _SECONDS
        found = []
        for row in client.containers(all=True, filters=wanted):
            who = labels.read(row["Labels"])
            if who is not None:
                known = self._last_known(row, who, node=row["Labels"].get(labels.NODE, ""))
                status, process = self._details(client, row["Id"], row["State"], known, give_up_at)
                found.append(
                    FoundContainer(
                        container=row["Id"],
                        endpoint=endpoint,
                        status=status,
                        labels=who,
                        process=process,
                    )
                )
        return tuple(found)

    def _details(
        self,
        client: Client,
        container: str,
        status: str,
        known: ObservedProcess,
        give_up_at: float,
    ) -> tuple[str, ObservedProcess | None]:
        """Its status may have changed since. One that just starts would not answer.

        One whose details the daemon cannot tell, or not in time, hides no other: it counts as
        running, until its end is certain.
        """
        if status not in RUNNING | ENDED:
            return status, None
        with contextlib.suppress(KeyError):
            return status, self._known[container, status]
        if self.now() >= give_up_at:
            return _RUNNING, known
        try:
            details = client.inspect_container(container)
            process = observed(details, now=datetime.now(UTC))
        except docker.errors.NotFound:
            return "removing", None
        except (docker.errors.APIError, requests.ReadTimeout, ValueError, KeyError) as problem:
            extra = {"action": "inspect_container", "process_id": known.labels.process_id}
            _log.warning("A container counts as running: %r", problem, extra=extra)
            return _RUNNING, known
        status = details["State"]["Status"]
        self._known[container, status] = process
        return status, process

    def _last_known(self, row: Mapping[str, Any], who: Labels, *, node: str) -> ObservedProcess:
        """That it ran, since when it was started or, if nobody knows, made."""
        before = self._known.get((row["Id"], _RUNNING))
        return before or ObservedProcess(
            labels=who,
            node=node,
            phase=ProcessPhase.RUNNING,
            started_at=min(datetime.fromtimestamp(row["Created"], tz=UTC), datetime.now(UTC)),
        )
