"""When is it worth looking again? As soon as a daemon tells of an event in one of our containers.

Only a hint to look: what happened while nobody listened is found by looking after each connection
is made, and now and then in any case.
"""

from __future__ import annotations

import json
import logging
import threading
from dataclasses import dataclass, field
from typing import Final

import docker.errors

from cluster.docker_host.connection.connections import Connections, talking_to
from cluster.docker_host.connection.daemons import Daemons
from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.docker_host.container import labels
from cluster.worker_host import HostUnavailable

_IDLE_SECONDS: Final = 30.0  # a connection over which nothing came is made anew: it may be dead
_PAUSE_SECONDS: Final = 2.0  # before a daemon that does not answer is asked again
_TELLING: Final = ("start", "die", "oom", "destroy")

_log: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class Bell:
    """Rung by many, heard by all who wait."""

    _rings: int = 0
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def ring(self) -> None:
        with self._changed:
            self._rings += 1
            self._changed.notify_all()

    def wait(self, heard: int, *, seconds: float) -> int:
        """Return when it rang more often than was heard, or the time is over: how often it rang."""
        with self._changed:
            self._changed.wait_for(lambda: self._rings > heard, seconds)
            return self._rings


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """Listens to all daemons, as long as it is not closed."""

    installation: str
    daemons: Daemons
    connections: Connections
    bell: Bell
    _listening: dict[DaemonEndpoint, threading.Event] = field(default_factory=dict)

    def keep_up(self) -> None:
        """Listen to the daemons that there are now."""
        wanted = set(self.daemons.all())
        for endpoint in set(self._listening) - wanted:
            self._listening.pop(endpoint).set()
        for endpoint in wanted - set(self._listening):
            is_over = self._listening[endpoint] = threading.Event()
            name = f"events-{endpoint.url}"
            arguments = (endpoint, is_over)
            threading.Thread(target=self._listen, args=arguments, name=name, daemon=True).start()

    def close(self) -> None:
        """The threads end when they next hear something, or nothing for a while."""
        for endpoint in list(self._listening):
            self._listening.pop(endpoint).set()

    def _listen(self, endpoint: DaemonEndpoint, is_over: threading.Event) -> None:
        while not is_over.is_set():
            try:
                self._hear(endpoint, is_over)
            except (HostUnavailable, docker.errors.APIError) as problem:
                _log.debug("No events: %s", problem, extra={"action": "listen"})
                is_over.wait(_PAUSE_SECONDS)

    def _hear(self, endpoint: DaemonEndpoint, is_over: threading.Event) -> None:
        client = self.connections.quick(endpoint)
        filters = {
            "type": ["container"],
            "event": list(_TELLING),
            "label": labels.of_installation(self.installation),
        }
        with talking_to(endpoint):
            answer = client.get(
                f"{client.base_url}/v{client.api_version}/events",
                params={"filters": json.dumps(filters)},
                stream=True,
                timeout=(client.timeout, _IDLE_SECONDS),
            )
            with answer:
                answer.raise_for_status()
                self.bell.ring()
                for _ in answer.iter_content(chunk_size=None):
                    if is_over.is_set():
                        return
                    self.bell.ring()
