"""How does a container end within its grace period, whoever dies meanwhile?

Until when it may take its time is written down first; then the daemon is asked to send SIGTERM and,
when the time is over, SIGKILL. That it heard us is written down, too: until then, whoever looks at
the container asks again. The daemon goes on without us; if it is the one that dies, whoever looks
at the container next sees that its time is over.
"""

from __future__ import annotations

import contextlib
import logging
import time
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

import docker.errors
import requests

from cluster.background.background_jobs import BackgroundJobs
from cluster.docker_host.connection.connections import Connections, asking, talking_to
from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.docker_host.record.records import ContainerRecord
from cluster.files import json_files
from cluster.files.private_folders import make_private
from cluster.worker_host import HostUnavailable

_OVER: Final = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT})  # it does not run any more
_HEARD: Final = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED, HTTPStatus.NOT_FOUND})

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopper:
    """Ends the containers of one installation; waits for nothing."""

    connections: Connections
    _background: BackgroundJobs = field(
        default_factory=lambda: BackgroundJobs(name="stop_container")
    )
    _asked: dict[str, float] = field(default_factory=dict)  # by container; also while we ask

    def stop(
        self,
        container: str,
        endpoint: DaemonEndpoint,
        record: ContainerRecord,
        *,
        grace_seconds: float,
    ) -> None:
        """The first one begins the grace period; a later one may shorten it."""
        wished = note_wish(record, grace_seconds=grace_seconds)
        self._end(container, endpoint, record, min(wished, self._asked.get(container, wished)))

    def go_on(self, container: str, endpoint: DaemonEndpoint, record: ContainerRecord) -> None:
        """Go on if somebody wished its end: whoever did may have died, or not been heard."""
        kill_at = record.kill_at()
        if kill_at is not None:
            self._end(container, endpoint, record, kill_at)

    def forget(self, container: str) -> None:
        """It is gone."""
        self._asked.pop(container, None)

    def _end(
        self, container: str, endpoint: DaemonEndpoint, record: ContainerRecord, kill_at: float
    ) -> None:
        if time.time() >= kill_at:
            self._background.begin(container, lambda: self._kill(container, endpoint))
            return
        asked_at = self._asked.get(container, record.asked())
        if asked_at is None or asked_at > kill_at:
            self._asked[container] = kill_at
            self._background.begin(
                f"{container} by {kill_at}", lambda: self._ask(container, endpoint, record, kill_at)
            )

    def _kill(self, container: str, endpoint: DaemonEndpoint) -> None:
        """The daemon answers when it is over, which takes long while the kernel is busy with it."""
        with asking(endpoint):
            try:
                self.connections.patient(endpoint).kill(container, "SIGKILL")
            except docker.errors.APIError as refusal:
                if refusal.status_code not in _OVER:
                    raise

    def _ask(
        self, container: str, endpoint: DaemonEndpoint, record: ContainerRecord, kill_at: float
    ) -> None:
        try:
            self._request(container, endpoint, seconds=kill_at - time.time())
        except BaseException:
            self.forget(container)
            raise
        with contextlib.suppress(OSError):  # a full disk, or it is forgotten already
            json_files.replace(record.asked_path, {"kill_at": kill_at})

    def _request(self, container: str, endpoint: DaemonEndpoint, *, seconds: float) -> None:
        """The daemon answers when it is over, but need not be waited for if it is well."""
        client = self.connections.quick(endpoint)
        url = f"{client.base_url}/v{client.api_version}/containers/{container}/stop"
        with talking_to(endpoint):
            try:
                answer = client.post(url, params={"t": max(round(seconds), 1)}, timeout=1.0)
            except requests.ReadTimeout:
                client.ping()
                return
        if answer.status_code not in _HEARD:
            raise HostUnavailable(f"{endpoint.url}: {answer.status_code} {answer.text}")


def note_wish(record: ContainerRecord, *, grace_seconds: float) -> float:
    """Write down until when it may run, if that can be written, and return it; the earliest counts.

    It is in seconds since 1970, and no later than what was written down before.
    """
    kill_at = time.time() + grace_seconds
    known = record.kill_at()
    if known is not None and known <= kill_at:
        return known
    try:
        make_private(record.folder)
        json_files.replace(record.stop_path, {"kill_at": kill_at})
    except OSError as problem:  # a full disk, say: it has to end all the same
        extra = {"action": "stop_container", "process_id": record.process_id}
        _log.warning("A grace period cannot be written down: %s", problem, extra=extra)
    return kill_at
