"""How does all that is kept of a job's log become one file? Merged by time while it is read.

A line of it is `<process> 2026-11-21T07:33:19.123456Z stdout the text`. How many bytes it has is
known before one is sent, so a download that broke off goes on where it was. Reading holds a block
of each process's log, and nothing of a file stays open.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from cluster.logs.log_blocks import LONGEST_BYTES, STAMP_CHARACTERS, end_of_lines_in, read_block
from cluster.logs.log_files import LogFile, ProcessLog
from cluster.logs.log_store import JobLog, block_bytes_for

PIECE_BYTES: Final = 1 << 18
_COUNTED_BYTES: Final = 1 << 20  # of one look at a file, while lines are counted


class LogWasTrimmed(Exception):
    """A part of the log was dropped while it was sent."""


@dataclass(frozen=True)
class WholeLog:
    """A job's log, as long as it was when it was looked at: whole lines, none of them later."""

    processes: tuple[ProcessLog, ...]

    @property
    def etag(self) -> str:
        """Return another where another process, position or job is in it."""
        said = ";".join(
            f"{file.path.name}@{file.start}+{file.size}"
            for log in self.processes
            for file in log.files
        )
        folder = self.processes[0].files[0].path.parent.name if self.processes else ""
        return f'"log-{hashlib.sha256(f"{folder}/{said}".encode()).hexdigest()[:32]}"'

    @property
    def modified_at(self) -> float:
        """Seconds since 1970 at which the last of it was written."""
        return max((log.written_at for log in self.processes), default=0) / 1e9

    @cached_property
    def size(self) -> int:
        """Return how many bytes `content` has in all; this reads the whole log once.

        Raises:
            LogWasTrimmed: a part of it is gone already.
        """
        return sum(
            file.size + _count_lines(file) * len(_head(log))
            for log in self.processes
            for file in log.files
        )

    def close(self) -> None:
        """Nothing is held."""

    def content(self, start: int, end: int) -> Generator[bytes]:
        """Yield what is between two bytes of it, in pieces; empty ones while it comes to the first.

        So whoever reads for many can turn to others, however far into it somebody begins.

        Raises:
            LogWasTrimmed: see above.
        """
        piece, at, piece_start = bytearray(), 0, 0
        block_bytes = block_bytes_for(self.processes)
        for _, _, line in heapq.merge(
            *(_lines(log, number, block_bytes) for number, log in enumerate(self.processes))
        ):
            behind = at + len(line)
            if behind > start:
                piece += line[max(start - at, 0) : end - at]
            at = behind
            if at >= end:
                break
            if at - piece_start >= PIECE_BYTES:
                yield bytes(piece)
                piece.clear()
                piece_start = at
        if piece:
            yield bytes(piece)


def whole_log(log: JobLog) -> WholeLog:
    """Look at what there is now."""
    return WholeLog(
        tuple(
            ProcessLog(one.process_id, tuple(_whole_lines_of(file) for file in one.files))
            for one in log.logs()
        )
    )


def _whole_lines_of(file: LogFile) -> LogFile:
    return replace(file, size=end_of_lines_in(file) - file.start)


def _head(log: ProcessLog) -> bytes:
    """Return what stands before each line of a process."""
    return f"{log.process_id} ".encode()


def _lines(log: ProcessLog, number: int, block_bytes: int) -> Iterator[tuple[bytes, int, bytes]]:
    """Yield each line with what it is sorted by: its stamp, then which process wrote it.

    What has no stamp, the torn end of a line, stays behind the line before it.
    """
    head, stamp = _head(log), b""
    for file in log.files:
        position, rest, is_begun = file.start, b"", False
        while position < file.end:
            block = read_block(file, position, block_bytes)
            if not block:
                raise LogWasTrimmed
            position += len(block)
            *whole, rest = (rest + block).split(b"\n")
            for raw in whole:
                stamp = stamp if is_begun else max(stamp, _stamp(raw))
                yield stamp, number, (b"" if is_begun else head) + raw + b"\n"
                is_begun = False
            if len(rest) > LONGEST_BYTES:  # no line of ours, and not to be held
                yield stamp, number, (b"" if is_begun else head) + rest
                rest, is_begun = b"", True


def _stamp(raw: bytes) -> bytes:
    """Return a line's moment, as text that sorts as moments do; empty: it has none."""
    is_stamped = raw[STAMP_CHARACTERS - 1 : STAMP_CHARACTERS + 1] == b"Z "
    return raw[:STAMP_CHARACTERS] if is_stamped else b""


def _count_lines(file: LogFile) -> int:
    position, lines = file.start, 0
    while position < file.end:
        block = read_block(file, position, _COUNTED_BYTES)
        if not block:
            raise LogWasTrimmed
        position += len(block)
        lines += block.count(b"\n")
    return lines
