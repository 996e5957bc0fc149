"""Which files hold a process's log, and which of them must go?

`logs/<job>/<process>.log` begins with the first line; where it became too long, a file
`<process>.log.<start>` goes on, `start` being the position of its first byte in the whole log. So
a position in a log stays what it is when the oldest files go. Whoever writes a file holds a lock
on it: what is written to is never removed, and the kernel lets go when the writer dies.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

MOST_FILES = 1000  # of a job; guessed: workers of its attempts that people may still ask for
_START_DIGITS = 16
_SUFFIX = ".log"
_TRIMMED = "trimmed"  # a note that older lines of the job are gone


@dataclass(frozen=True, slots=True)
class LogBounds:
    """What the logs of one process and of one job may take; of a job, beside what is written to."""

    process_bytes: int = 64 << 20  # guessed: days of ordinary training
    job_bytes: int = 1 << 30

    @property
    def file_bytes(self) -> int:
        """A file that is longer is not written to any more."""
        return max(self.process_bytes // 4, 1)


USUAL = LogBounds()


@dataclass(frozen=True, slots=True)
class LogFile:
    """A part of a process's log, as long as it was when somebody looked."""

    path: Path
    process_id: str
    start: int
    size: int
    written_at: int  # nanoseconds

    @property
    def end(self) -> int:
        return self.start + self.size


@dataclass(frozen=True, slots=True)
class ProcessLog:
    """The files of one process, in order, at least one."""

    process_id: str
    files: tuple[LogFile, ...]

    @property
    def start(self) -> int:
        """The position where what is left of it begins."""
        return self.files[0].start

    @property
    def end(self) -> int:
        return self.files[-1].end

    @property
    def written_at(self) -> int:
        return self.files[-1].written_at


def path_of(process_id: str, *, job_id: str, state_dir: Path) -> Path:
    """Return where the process's lines begin."""
    return folder_of(job_id, state_dir=state_dir) / f"{process_id}{_SUFFIX}"


def folder_of(job_id: str, *, state_dir: Path) -> Path:
    return state_dir / "logs" / job_id


def logs_in(folder: Path, *, process_id: str | None = None) -> list[ProcessLog]:
    """The logs in a job's folder by process, or that of one process."""
    files = sorted(_files(folder), key=lambda file: (file.process_id, file.start))
    by_process = groupby(files, key=lambda file: file.process_id)
    logs = (ProcessLog(name, tuple(parts)) for name, parts in by_process)
    return [log for log in logs if process_id in {None, log.process_id}]


def is_trimmed(folder: Path) -> bool:
    """True if lines of the job were dropped."""
    return (folder / _TRIMMED).exists()


def next_path(first: Path, start: int) -> Path:
    """Return where a log goes on at this position."""
    return first.with_name(f"{first.name}.{start:0{_START_DIGITS}d}") if start else first


def open_locked(path: Path) -> int:
    """Open a file to append to; it is not removed before it is closed. Raises: OSError."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o640)
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        os.close(descriptor)


def trim(folder: Path, bounds: LogBounds) -> None:
    """Remove what is too much, the oldest first, so that there is room for one more file."""
    files = list(_files(folder))
    room = bounds.process_bytes - bounds.file_bytes
    for log in logs_in(folder):
        _keep(reversed(log.files), room=room, most=MOST_FILES)
    newest_first = sorted(files, key=lambda file: (file.written_at, file.start), reverse=True)
    _keep(newest_first, room=bounds.job_bytes - bounds.file_bytes, most=MOST_FILES - 1)


def _keep(newest_first: Iterable[LogFile], *, room: int, most: int) -> None:
    """Keep the newest; what is behind the first that is too much goes as well, leaving no gap."""
    held = 0
    for count, file in enumerate(newest_first, start=1):
        held += file.size
        if held > room or count > most:
            _remove(file.path)


def _remove(path: Path) -> None:
    """Remove a file unless somebody writes to it."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        (path.parent / _TRIMMED).touch()
        path.unlink(missing_ok=True)
    except BlockingIOError:
        return
    finally:
        os.close(descriptor)


def _files(folder: Path) -> Iterator[LogFile]:
    try:
        entries = list(os.scandir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in entries:
        process_id, is_log, start = entry.name.partition(_SUFFIX)
        digits = start.removeprefix(".")
        if not is_log or (start and not (digits.isascii() and digits.isdigit())):
            continue
        with contextlib.suppress(FileNotFoundError):
            found = entry.stat()
            position = int(digits or 0)
            yield LogFile(Path(entry.path), process_id, position, found.st_size, found.st_mtime_ns)
