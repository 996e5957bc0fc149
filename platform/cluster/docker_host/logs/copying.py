"""How does a container's log get into the log store? Copied as it comes, no line twice.

It goes on behind the last line that was copied, whoever copied it: after a lost connection, a
restart of the daemon, or one of the service. Of several service processes one copies, the others
wait for its lock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import docker.errors

from autoscaler.backoff import Backoff
from cluster.docker_host.connection.connections import Connections, talking_to
from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.docker_host.container.observing import ENDED
from cluster.docker_host.logs import cursors
from cluster.docker_host.logs.copied_log import CopiedLog
from cluster.docker_host.logs.cursors import LogCursor, LogDeduplicator
from cluster.docker_host.logs.messages import Message, messages
from cluster.docker_host.record.records import ContainerRecord
from cluster.files.lock_files import holding
from cluster.logs import log_files, log_lines
from cluster.logs.log_files import LogBounds
from cluster.logs.pace import LogRateLimiter
from cluster.worker_host import HostUnavailable, Labels, ProcessRole

_IDLE_SECONDS: Final = 60.0  # a connection over which nothing came is made anew: it may be dead
_CURSOR_SECONDS: Final = 0.5  # between two writes of the cursor, while lines flood in
_BETWEEN_COPIES: Final = Backoff(first_seconds=0.1, longest_seconds=5.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSource:
    """One container whose log is copied."""

    container: str  # Docker's id
    labels: Labels
    endpoint: DaemonEndpoint
    record: ContainerRecord

    def as_document(self) -> dict[str, Any]:
        """Return it for another process; `read_source` reads it again."""
        folder = self.endpoint.certificates
        return {
            "container": self.container,
            "labels": asdict(self.labels),
            "url": self.endpoint.url,
            "certificates": None if folder is None else str(folder),
            "record": str(self.record.folder),
        }


def read_source(document: dict[str, Any]) -> LogSource:
    labels, folder = document["labels"], document["certificates"]
    return LogSource(
        container=document["container"],
        labels=Labels(**{**labels, "role": ProcessRole(labels["role"])}),
        endpoint=DaemonEndpoint(
            url=document["url"], certificates=None if folder is None else Path(folder)
        ),
        record=ContainerRecord(folder=Path(document["record"])),
    )


def is_complete(source: LogSource) -> bool:
    """True if the log was copied to its end."""
    path = source.record.log_cursor_path
    return cursors.read(path, container=source.container).is_complete


class Copy:
    """One container's log, copied to its end."""

    def __init__(
        self,
        source: LogSource,
        *,
        state_dir: Path,
        connections: Connections,
        bounds: LogBounds,
        complain: Callable[[str], None],
    ) -> None:
        self._bounds = bounds
        self._pace = LogRateLimiter()
        self._complain = complain
        self._connections = connections
        self._source = source
        self._path = log_files.path_of(
            source.labels.process_id, job_id=source.labels.job_id, state_dir=state_dir
        )

    def run(self) -> None:
        """Returns when all is copied, or the container is gone.

        Raises:
            OSError: our disk refuses.
        """
        record = self._source.record
        with holding(record.log_lock_path):
            copies, pause_seconds = 0, 0.0
            while not is_complete(self._source):
                began = time.monotonic()
                try:
                    self._copy(is_ended=self._is_ended())
                except docker.errors.NotFound:
                    return
                except (HostUnavailable, docker.errors.APIError):
                    pass  # the daemon restarts, say: that is told elsewhere
                has_lasted = time.monotonic() - began > pause_seconds
                copies = 1 if has_lasted else copies + 1
                pause_seconds = _BETWEEN_COPIES.seconds_after(copies)
                time.sleep(pause_seconds)

    def _is_ended(self) -> bool:
        endpoint = self._source.endpoint
        with talking_to(endpoint):
            client = self._connections.quick(endpoint)
            state = client.inspect_container(self._source.container)["State"]
        return state["Status"] in ENDED

    def _copy(self, *, is_ended: bool) -> None:
        """Copy what comes over one connection; of an ended container that is all there is."""
        path = self._source.record.log_cursor_path
        cursor = cursors.read(path, container=self._source.container)
        file = CopiedLog(self._path, position=cursor.file_bytes, bounds=self._bounds)
        try:
            self._take_all(cursor, file, is_ended=is_ended)
            if is_ended:
                copy_rest(cursor, file)
            cursor.is_complete = is_ended
            cursor.file_bytes = file.end
            cursor.write(path)
        finally:
            file.close()

    def _take_all(self, cursor: LogCursor, file: CopiedLog, *, is_ended: bool) -> None:
        news, write_at = LogDeduplicator(cursor), time.monotonic() + _CURSOR_SECONDS
        chunks = self._chunks(cursor, is_ended=is_ended)
        for arrived in messages(self._paced(chunks), complain=self._complain):
            for message in arrived:
                if news.has(message.stream, message.at):
                    copy_message(message, cursor, file)
            file.flush()
            if time.monotonic() >= write_at:
                cursor.file_bytes = file.end
                cursor.write(self._source.record.log_cursor_path)
                write_at = time.monotonic() + _CURSOR_SECONDS

    def _paced(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            self._pace.take(len(chunk))
            yield chunk

    def _chunks(self, cursor: LogCursor, *, is_ended: bool) -> Iterable[bytes]:
        endpoint = self._source.endpoint
        client = self._connections.quick(endpoint)
        with talking_to(endpoint):
            answer = client.get(
                f"{client.base_url}/v{client.api_version}/containers/{self._source.container}/logs",
                params={
                    "stdout": 1,
                    "stderr": 1,
                    "timestamps": 1,
                    "follow": int(not is_ended),
                    "since": cursor.since(),
                },
                stream=True,
                timeout=(client.timeout, _IDLE_SECONDS),
            )
            with answer:
                if answer.status_code == HTTPStatus.NOT_FOUND:
                    raise docker.errors.NotFound("The container is gone.", response=answer)
                answer.raise_for_status()
                yield from answer.iter_content(chunk_size=None)


def copy_message(message: Message, cursor: LogCursor, file: CopiedLog) -> None:
    lines = cursor.lines(message)
    stamp = f"{message.at[:26]}Z"
    for line in lines:
        file.add(f"{stamp} {message.stream} {log_lines.readable(line)}\n".encode())


def copy_rest(cursor: LogCursor, file: CopiedLog) -> None:
    """Copy what is left of lines that never ended."""
    for stream, position in cursor.positions.items():
        if rest := log_lines.last_state(position.held):
            file.add(f"{position.at[:26]}Z {stream} {log_lines.readable(rest)}\n".encode())
    file.flush()
