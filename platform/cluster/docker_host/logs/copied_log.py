"""How does a line that may be in the log already get there exactly once?

Lines come again after a disconnect, in the same order and with the same stamps. As long as what
comes equals what the log holds from the cursor on, nothing is written.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from cluster.logs import log_files
from cluster.logs.log_files import LogBounds


class CopiedLog:
    """Appends to one process's log; reads along what is there from `position` on.

    What is too much of it, and of those of its job, goes whenever a new file is begun.
    """

    def __init__(self, path: Path, *, position: int, bounds: LogBounds) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._first, self._bounds = path, bounds
        found = log_files.logs_in(path.parent, process_id=path.stem)
        self._start = found[0].files[-1].start if found else 0
        self._descriptor = log_files.open_locked(log_files.next_path(path, self._start))
        self._end = self._start + os.fstat(self._descriptor).st_size
        self._read = min(max(position, found[0].start if found else 0), self._end)
        self._pending: list[bytes] = []
        self._trim()

    @property
    def end(self) -> int:
        """The length of the log with all that was added so far, once that is written."""
        return self._read if self._is_behind else self._end

    @property
    def _is_behind(self) -> bool:
        return self._read < self._end

    def add(self, line: bytes) -> None:
        """A line with its end; in the log after `flush` at the latest."""
        if self._is_behind:
            line = self._unknown_part(line)
        if line:
            self._pending.append(line)

    def flush(self) -> None:
        """Raises: OSError, when the disk is full, say; part of it may have been written."""
        data = memoryview(b"".join(self._pending))
        self._pending.clear()
        if data:
            self._go_on_if_full(is_new_line=bytes(data[:1]) != b"\n")
        while data:
            written = os.write(self._descriptor, data)
            self._end += written
            self._read = self._end
            data = data[written:]

    def close(self) -> None:
        os.close(self._descriptor)

    def _go_on_if_full(self, *, is_new_line: bool) -> None:
        """Begin the next file, unless a line goes on that a full disk has torn."""
        if self._end - self._start < self._bounds.file_bytes or not is_new_line:
            return
        if os.pread(self._descriptor, 1, self._end - self._start - 1) != b"\n":
            return
        descriptor = log_files.open_locked(log_files.next_path(self._first, self._end))
        os.close(self._descriptor)
        self._start, self._descriptor = self._end, descriptor
        self._trim()

    def _trim(self) -> None:
        with contextlib.suppress(OSError):  # next time, then
            log_files.trim(self._first.parent, self._bounds)

    def _unknown_part(self, line: bytes) -> bytes:
        known = self._held(self._read, len(line))
        if known == line:
            self._read += len(line)
            return b""
        is_begun = self._read + len(known) == self._end and line.startswith(known)
        ending = self._held(self._end - 1, 1)
        self._read = self._end
        if is_begun:
            return line[len(known) :]
        return line if ending == b"\n" else b"\n" + line

    def _held(self, position: int, size: int) -> bytes:
        """Return what the log has there; a line is in one file."""
        if position >= self._start:
            return os.pread(self._descriptor, size, position - self._start)
        for log in log_files.logs_in(self._first.parent, process_id=self._first.stem):
            for file in log.files:
                if file.start <= position < file.end:
                    with contextlib.suppress(FileNotFoundError), file.path.open("rb") as opened:
                        opened.seek(position - file.start)
                        return opened.read(size)
        return b""
