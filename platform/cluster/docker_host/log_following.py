"""How do a container's lines get into the log store? A thread copies them as they come.

It goes on behind the last line that was copied, whoever copied it: after a lost connection, a
restart of the daemon, or one of the service. Of several service processes one copies, the others
wait for its lock. What our disk refuses is tried again when the container is listed again, and a
container stays until its log is copied; but nobody waits for a full disk to forget a process.
"""

from __future__ import annotations

import errno
import logging
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Final

import docker.errors

from cluster import log_files, log_lines
from cluster.docker_host import log_cursor
from cluster.docker_host.connections import Connections, talking_to
from cluster.docker_host.copied_log import CopiedLog
from cluster.docker_host.endpoint import Endpoint
from cluster.docker_host.lock_files import holding
from cluster.docker_host.log_cursor import Cursor, News
from cluster.docker_host.log_messages import Message, messages
from cluster.docker_host.observing import ENDED
from cluster.docker_host.records import Record
from cluster.log_files import LogBounds
from cluster.worker_host import HostUnavailable, Labels

_IDLE_SECONDS: Final = 60.0  # a connection over which nothing came is made anew: it may be dead
_CURSOR_SECONDS: Final = 0.5  # between two writes of the cursor, while lines flood in
_FIRST_PAUSE_SECONDS: Final = 0.1
_LONGEST_PAUSE_SECONDS: Final = 5.0
_POLL_SECONDS: Final = 0.01

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One container whose log is copied."""

    container: str  # Docker's id
    labels: Labels
    endpoint: Endpoint
    record: Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Followers:
    """The threads of one service process, one per container."""

    state_dir: Path
    connections: Connections
    bounds: LogBounds
    _threads: dict[str, threading.Thread] = field(default_factory=dict)
    _problems: dict[str, Exception] = field(default_factory=dict)  # by container: its last
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def follow(self, source: Source) -> None:
        """See that the container's log is copied, to its end."""
        with self._lock:
            if source.container in self._threads or _is_complete(source):
                return
            follower = Follower(self.state_dir, self.connections, source, self.bounds)
            thread = threading.Thread(
                target=self._run,
                args=(follower, source),
                name=f"log-{source.labels.process_id}",
                daemon=True,
            )
            self._threads[source.container] = thread
        thread.start()

    def await_complete(self, sources: Iterable[Source], *, seconds: float) -> bool:
        """Wait for what is copied of these ended containers; whether nothing more will come."""
        give_up_at = time.monotonic() + seconds
        over = [self._await_one(source, give_up_at) for source in sources]
        return all(over)

    def _await_one(self, source: Source, give_up_at: float) -> bool:
        while not _is_complete(source):
            if source.container not in self._threads:
                problem = self._problems.get(source.container)
                return problem is None or _is_full(problem)
            if time.monotonic() >= give_up_at:
                return False
            time.sleep(_POLL_SECONDS)
        return True

    def _run(self, follower: Follower, source: Source) -> None:
        try:
            follower.run()
        except Exception as problem:  # noqa: BLE001 - tried again when it is next listed
            self._note(problem, source)
        else:
            self._problems.pop(source.container, None)
        finally:
            self._threads.pop(source.container, None)

    def _note(self, problem: Exception, source: Source) -> None:
        """Tell it, once however often it is tried."""
        before = self._problems.get(source.container)
        self._problems[source.container] = problem
        if repr(problem) != repr(before):
            is_lost = _is_full(problem)
            what = "A log is not copied for want of room" if is_lost else "A log is copied later"
            trace = None if isinstance(problem, OSError) else problem
            extra = {"action": "copy_log", "process_id": source.labels.process_id}
            _log.warning("%s: %r", what, problem, exc_info=trace, extra=extra)


class Follower:
    """Copies one container's log to its end."""

    def __init__(
        self, state_dir: Path, connections: Connections, source: Source, bounds: LogBounds
    ) -> None:
        self._bounds = bounds
        self._connections = connections
        self._source = source
        self._complaint = ""
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
            pause_seconds = _FIRST_PAUSE_SECONDS
            while not _is_complete(self._source):
                began = time.monotonic()
                try:
                    self._copy(is_ended=self._is_ended())
                except docker.errors.NotFound:
                    return
                except (HostUnavailable, docker.errors.APIError) as problem:
                    _log.debug("A log is copied later: %s", problem, extra={"action": "copy_log"})
                if time.monotonic() - began > pause_seconds:
                    pause_seconds = _FIRST_PAUSE_SECONDS
                time.sleep(pause_seconds)
                pause_seconds = min(2 * pause_seconds, _LONGEST_PAUSE_SECONDS)

    def _is_ended(self) -> bool:
        endpoint = self._source.endpoint
        with talking_to(endpoint):
            client = self._connections.quick(endpoint)
            state = client.inspect_container(self._source.container)["State"]
        return state["Status"] in ENDED

    def _copy(self, *, is_ended: bool) -> None:
        """What comes over one connection; of an ended container that is all there is."""
        path = self._source.record.log_cursor_path
        cursor = log_cursor.read(path, container=self._source.container)
        file = CopiedLog(self._path, place=cursor.file_bytes, bounds=self._bounds)
        try:
            self._take_all(cursor, file, is_ended=is_ended)
            if is_ended:
                _end(cursor, file)
            cursor.is_complete = is_ended
            cursor.file_bytes = file.end
            cursor.write(path)
        finally:
            file.close()

    def _take_all(self, cursor: Cursor, file: CopiedLog, *, is_ended: bool) -> None:
        news, write_at = News(cursor), time.monotonic() + _CURSOR_SECONDS
        chunks = self._chunks(cursor, is_ended=is_ended)
        for arrived in messages(chunks, complain=self._complain):
            for message in arrived:
                if news.has(message.stream, message.at):
                    _add(message, cursor, file)
            file.flush()
            if time.monotonic() >= write_at:
                cursor.file_bytes = file.end
                cursor.write(self._source.record.log_cursor_path)
                write_at = time.monotonic() + _CURSOR_SECONDS

    def _complain(self, said: str) -> None:
        """Tell what of the log Docker itself cannot read; again only if it says something else."""
        if said != self._complaint:
            self._complaint = said
            who = self._source.labels.process_id
            extra = {"action": "copy_log", "process_id": who}
            _log.warning("Docker cannot read the log of %s: %s", who, said, extra=extra)

    def _chunks(self, cursor: Cursor, *, is_ended: bool) -> Iterable[bytes]:
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


def _add(message: Message, cursor: Cursor, file: CopiedLog) -> None:
    lines = cursor.lines(message)
    stamp = f"{message.at[:26]}Z"
    for line in lines:
        file.add(f"{stamp} {message.stream} {log_lines.readable(line)}\n".encode())


def _end(cursor: Cursor, file: CopiedLog) -> None:
    """What is left of lines that never ended."""
    for stream, place in cursor.places.items():
        if rest := log_lines.last_state(place.held):
            file.add(f"{place.at[:26]}Z {stream} {log_lines.readable(rest)}\n".encode())
    file.flush()


def _is_full(problem: Exception) -> bool:
    """Our disk, or our share of it: that may last for ever."""
    return isinstance(problem, OSError) and problem.errno in {errno.ENOSPC, errno.EDQUOT}


def _is_complete(source: Source) -> bool:
    path = source.record.log_cursor_path
    return log_cursor.read(path, container=source.container).is_complete
