"""How much lies in a folder that a job may change, hide from us, or make endless, meanwhile?

`find` walks, in a process of its own: it opens folders one below the other by their descriptors,
follows no link, stays on the file system, and takes any name and any number of files.
Nobody waits for a disk here: what it says is read for so long and no longer.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_BLOCK_BYTES: Final = 512  # of what `%b` counts, on any file system
_CHUNK_BYTES: Final = 1 << 16
_END_SECONDS: Final = (
    5.0  # for a killed process to be gone; longer only in the kernel's own trouble
)
_NICENESS: Final = 10  # jobs and the service come first
_CLOSED: Final = b"closed"
_DEEPEST: Final = 200  # levels; guessed: nobody nests data like this
_TOO_DEEP: Final = f"{_DEEPEST}d".encode()
_ENVIRONMENT: Final = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskUsage:
    """What lies there, or at least that much."""

    bytes_: int  # that the file system gives to it: holes take none
    files: int  # and folders, the folder itself included
    is_closed: bool  # some folder in it is shut to its owner, who is us, or lies too deep
    is_whole: bool


def walk(folder: Path, *, most_files: int, seconds: float) -> DiskUsage | None:
    """Count until it is through, there are more files than that, or the time is over.

    None: it is not there, or nothing could be found out in time.

    Raises:
        OSError: `find` is not installed, or no process can be started.
    """
    finder = subprocess.Popen(  # noqa: S603 - no shell, and the path begins with /
        _command(folder),
        cwd="/",
        env=_ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # a share of the processors of its own
    )
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, finder.pid, _NICENESS)
    assert finder.stdout is not None  # noqa: S101 - asked for above
    counter, is_through = _Counter(), False
    try:
        with finder.stdout:
            is_through = _read(finder.stdout.fileno(), counter, most_files, seconds)
    finally:
        if not is_through:
            finder.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):  # it is reaped when others are started
        finder.wait(_END_SECONDS)
    if counter.files == 0:
        return None
    return DiskUsage(
        bytes_=counter.bytes_,
        files=counter.files,
        is_closed=counter.is_closed,
        is_whole=is_through and finder.returncode == 0,
    )


def _command(folder: Path) -> list[str]:
    """A line for each file: its blocks, and how many names it has.

    Folders that lie very deep count as closed: the way to each takes longer than that to the last.
    """
    shut = ["(", "!", "-readable", "-o", "!", "-executable", ")"]
    ours = ["-type", "d", "-user", str(os.geteuid()), *shut]
    closed = ["(", *ours, "-printf", f"{_CLOSED.decode()}\\n", "-prune", ")"]
    bounds = ["-ignore_readdir_race", "-maxdepth", str(_DEEPEST), "-xdev"]
    return ["find", "-P", str(folder), *bounds, *closed, "-o", "-printf", "%b %n %d%y\\n"]


@dataclass(slots=True)
class _Counter:
    bytes_: int = 0
    files: int = 0
    is_closed: bool = False
    _rest: bytes = b""

    def take(self, data: bytes) -> None:
        """A file with several names counts for each by its part, so that none counts twice."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        self.files += len(lines)
        for line in lines:
            if line == _CLOSED:
                self.is_closed = True
            else:
                blocks, names, place = line.split()
                self.is_closed |= place == _TOO_DEEP
                self.bytes_ += int(blocks) * _BLOCK_BYTES // max(int(names), 1)


def _read(descriptor: int, counter: _Counter, most_files: int, seconds: float) -> bool:
    """Read all that there is; true if that was possible."""
    give_up_at = time.monotonic() + seconds
    ready = select.poll()
    ready.register(descriptor, select.POLLIN)
    while counter.files <= most_files and (left := give_up_at - time.monotonic()) > 0:
        if not ready.poll(left * 1000):
            return False
        data = os.read(descriptor, _CHUNK_BYTES)
        if not data:
            return True
        counter.take(data)
    return False
