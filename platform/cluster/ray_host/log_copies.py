"""How do the logs of a node come to where people read them? In portions, from where the copy ends.

A copy has the files of the log on the node, byte by byte, and its length is the cursor: whoever
dies, whenever, the next one goes on there, so that nothing is lost and nothing comes twice. One
copier at a time for each node, by a lock that the kernel gives back when it dies.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from cluster.files.lock_files import holding
from cluster.logs import log_files
from cluster.logs.log_files import LogBounds, ProcessLog
from cluster.ray_host.wire import LogPortion

MOST_BYTES_PER_ROUND: Final = 4 << 20  # of one node, so that others have their turn


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLog:
    """A log on a node."""

    job_id: str
    process_id: str
    end: int  # when somebody looked; it may have grown


# Of a log, from a position: None: there is nothing yet.
ReadPortion = Callable[[NodeLog, int], LogPortion | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogCopies:
    """The copies of one installation."""

    state_dir: Path
    bounds: LogBounds
    _reached: dict[str, int] = field(default_factory=dict)
    """By process, how far it was copied: of a log that was trimmed to nothing no file tells."""

    def are_behind(self, logs: Iterable[NodeLog]) -> bool:
        return any(self._end(log) < log.end for log in logs)

    def catch_up(
        self,
        node: str,
        logs: Iterable[NodeLog],
        read: ReadPortion,
        *,
        seconds: float = 0.0,
        most_bytes: int = MOST_BYTES_PER_ROUND,
    ) -> bool:
        """Copy what is new of these logs, at most so much. False: some is left, or others copy.

        Raises:
            HostUnavailable: the node does not answer.
            OSError: the copy cannot be written; what was written counts.
        """
        left = most_bytes
        with self._alone(node, seconds) as is_ours:
            if not is_ours:
                return False
            for log in logs:
                while self._end(log) < log.end:
                    if left <= 0:
                        return False
                    portion = read(log, self._end(log))
                    if portion is None:
                        break
                    self._append(log, portion)
                    left -= len(portion.data)
        return True

    def keep(self, process_ids: Iterable[str]) -> None:
        """Forget how far others were copied."""
        for process_id in self._reached.keys() - set(process_ids):
            self._reached.pop(process_id, None)

    @contextlib.contextmanager
    def _alone(self, node: str, seconds: float) -> Iterator[bool]:
        with holding(self.state_dir / "ray" / "copying" / node, seconds=seconds) as is_ours:
            yield is_ours

    def _end(self, log: NodeLog) -> int:
        copy = self._copy(log)
        return max(copy.end if copy else 0, self._reached.get(log.process_id, 0))

    def _copy(self, log: NodeLog) -> ProcessLog | None:
        folder = log_files.folder_of(log.job_id, state_dir=self.state_dir)
        found = log_files.logs_in(folder, process_id=log.process_id)
        return found[0] if found else None

    def _append(self, log: NodeLog, portion: LogPortion) -> None:
        first = log_files.path_of(log.process_id, job_id=log.job_id, state_dir=self.state_dir)
        first.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        copy = self._copy(log)
        path = log_files.next_path(first, _start_of_file(copy, portion))
        if not path.exists():
            log_files.trim(first.parent, self.bounds)
        descriptor = log_files.open_locked(path)
        try:
            _write(descriptor, portion.data)
        finally:
            os.close(descriptor)
        self._reached[log.process_id] = portion.position + len(portion.data)


def _start_of_file(copy: ProcessLog | None, portion: LogPortion) -> int:
    """Return where the file begins that the portion belongs into.

    One begins where one on the node does, and behind what the node dropped before it was copied.
    """
    if copy is None or copy.end != portion.position or portion.file_start == portion.position:
        return portion.position
    return copy.files[-1].start


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
