"""How does a line that may be in the log file already get there exactly once?

Lines come again after a disconnect, in the same order and with the same stamps. As long as what
comes equals what the file holds from the cursor on, nothing is written.
"""

from __future__ import annotations

import os
from pathlib import Path


class LogFile:
    """Appends to one process's file; reads along what is there from `offset` on."""

    def __init__(self, path: Path, *, offset: int) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o640)
        self._bytes = os.fstat(self._descriptor).st_size
        self._read = min(offset, self._bytes)
        self._pending: list[bytes] = []

    @property
    def size(self) -> int:
        """How long the file is with all that was added so far, once that is written."""
        return self._read if self._is_behind else self._bytes

    @property
    def _is_behind(self) -> bool:
        return self._read < self._bytes

    def add(self, line: bytes) -> None:
        """A line with its end; in the file after `flush` at the latest."""
        if self._is_behind:
            line = self._unknown_part(line)
        if line:
            self._pending.append(line)

    def flush(self) -> None:
        """Raises: OSError, when the disk is full, say; part of it may have been written."""
        data = memoryview(b"".join(self._pending))
        self._pending.clear()
        while data:
            written = os.write(self._descriptor, data)
            self._bytes += written
            self._read = self._bytes
            data = data[written:]

    def close(self) -> None:
        os.close(self._descriptor)

    def _unknown_part(self, line: bytes) -> bytes:
        known = os.pread(self._descriptor, len(line), self._read)
        if known == line:
            self._read += len(line)
            return b""
        is_begun = self._read + len(known) == self._bytes and line.startswith(known)
        ending = os.pread(self._descriptor, 1, self._bytes - 1)
        self._read = self._bytes
        if is_begun:
            return line[len(known) :]
        return line if ending == b"\n" else b"\n" + line
