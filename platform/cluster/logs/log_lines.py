"""How does a stream of bytes become lines of a log file that always can be read again?

A line on disk is `2026-11-21T07:33:19.123456Z stdout the text`, in UTF-8. Whatever a process
writes, a line of the file is one line: control characters and broken UTF-8 are replaced, lines
of absurd length are cut, the rest of a line that never ended is kept. Of a line that is rewritten
with carriage returns, a progress bar, the last state is kept, and now and then one on the way.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from cluster.logs import log_files
from cluster.logs.log_files import LogBounds

MOST_BYTES_PER_LINE = 16 * 1024  # longer lines are cut: a reader must be able to show them
REWRITTEN_EVERY_SECONDS = 10.0  # guessed: a bar that moves is seen to move, and the file is small
STAMP_BYTES = len("2026-11-21T07:33:19.123456Z stdout ")  # before each line

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_KEPT_CONTROLS = {"\t", "\x1b", "\x07"}  # tabs, and what coloured output begins and ends with
_CONTROLS = {
    code: _REPLACEMENT
    for code in (*range(0x20), 0x7F, 0x85, 0x2028, 0x2029)
    if chr(code) not in _KEPT_CONTROLS
}


class LineSplitter:
    """Cuts a stream into lines, keeping what is not yet a whole one."""

    def __init__(self) -> None:
        self._rest = b""
        self._rewritten_at: float | None = None  # when a state of this line was last given

    @property
    def held_bytes(self) -> int:
        return len(self._rest)

    def feed(self, data: bytes, *, now: float) -> list[bytes]:
        """The lines that became whole with this data; `now`, in seconds, never goes back."""
        *whole, rest = (self._rest + data).split(b"\n")
        lines = [piece for line in whole for piece in pieces(last_state(line))]
        if whole:
            self._rewritten_at = None
        self._rest = without_overwritten(rest)
        while len(self._rest) > MOST_BYTES_PER_LINE:
            lines.append(self._rest[:MOST_BYTES_PER_LINE])
            self._rest = self._rest[MOST_BYTES_PER_LINE:]
        if len(self._rest) < len(rest) and b"\r" in rest:
            lines += self._state_on_the_way(now)
        return lines

    def flush(self) -> list[bytes]:
        """Return what is left at the end of the stream."""
        rest, self._rest = last_state(self._rest), b""
        return [rest] if rest else []

    def _state_on_the_way(self, now: float) -> list[bytes]:
        if self._rewritten_at is None:
            self._rewritten_at = now
        state = last_state(self._rest)
        if not state or now - self._rewritten_at < REWRITTEN_EVERY_SECONDS:
            return []
        self._rewritten_at = now
        return [state]


class LineLog:
    """Appends lines to a process's log. A full disk costs lines, never the process that wrote them.

    What is too much of the log, and of those of its job, goes whenever a new file is begun.
    """

    def __init__(self, path: Path, bounds: LogBounds | None = None) -> None:
        self._first, self._bounds = path, bounds or LogBounds()
        path.parent.mkdir(parents=True, exist_ok=True)
        log = log_files.logs_in(path.parent, process_id=path.stem)
        self._start = log[0].files[-1].start if log else 0
        self._descriptor = log_files.open_locked(log_files.next_path(path, self._start))
        self._is_torn = False
        self._trim()

    def write(self, stream: str, lines: list[bytes]) -> None:
        """Append the lines, stamped with now."""
        stamp = timestamp(time.time_ns())
        text = "".join(f"{stamp} {stream} {readable(line)}\n" for line in lines)
        data = memoryview((("\n" if self._is_torn else "") + text).encode())
        try:
            self._go_on_if_full()
            while data:
                data = data[os.write(self._descriptor, data) :]
                self._is_torn = bool(data)
        except OSError:
            return

    def close(self) -> None:
        os.close(self._descriptor)

    def _go_on_if_full(self) -> None:
        """Begin the next file."""
        size = os.fstat(self._descriptor).st_size
        if size < self._bounds.file_bytes or self._is_torn:
            return
        start = self._start + size
        descriptor = log_files.open_locked(log_files.next_path(self._first, start))
        os.close(self._descriptor)
        self._start, self._descriptor = start, descriptor
        self._trim()

    def _trim(self) -> None:
        with contextlib.suppress(OSError):  # next time, then
            log_files.trim(self._first.parent, self._bounds)


def timestamp(nanoseconds: int) -> str:
    """`2026-11-21T07:33:19.123456Z`."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest // 1000:06d}Z"


def pieces(line: bytes) -> list[bytes]:
    """The line, cut where it is too long."""
    if len(line) <= MOST_BYTES_PER_LINE:
        return [line]
    return [
        line[start : start + MOST_BYTES_PER_LINE]
        for start in range(0, len(line), MOST_BYTES_PER_LINE)
    ]


def last_state(line: bytes) -> bytes:
    """Return what is seen of a line in the end, if a carriage return begins it anew."""
    return line.rstrip(b"\r").rpartition(b"\r")[2]


def without_overwritten(begun: bytes) -> bytes:
    """Return what may still be seen of an unfinished line; a last return may be half a line end."""
    return last_state(begun) + begun[-1:] if begun.endswith(b"\r") else last_state(begun)


def readable(line: bytes) -> str:
    """The line as it can be shown anywhere."""
    return line.decode(errors="replace").translate(_CONTROLS)
