"""How are the lines of one process read, from any position on or from the end, block by block?

No file stays open between two blocks, and no more than a block and a line is held.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from cluster.logs.log_files import LogFile, ProcessLog
from cluster.worker_host import LogLine

BLOCK_BYTES: Final = 64 * 1024
STAMP_CHARACTERS: Final = len("2026-11-21T07:33:19.123456Z")
LONGEST_BYTES: Final = 64 * 1024  # of a line as it is written, be every byte of it replaced


@dataclass(frozen=True, slots=True)
class PlacedLine:
    """A line, and where in its process's log it stands."""

    line: LogLine
    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start


def forward(
    log: ProcessLog, position: int, *, block_bytes: int = BLOCK_BYTES
) -> Iterator[PlacedLine]:
    """Yield whole lines from this position on; ends early where a file is gone meanwhile."""
    for file in log.files:
        if file.end <= position:
            continue
        begin = max(position, file.start)
        rest = b""
        while begin + len(rest) < file.end:
            block = read_block(file, begin + len(rest), block_bytes)
            if not block:
                return
            *whole, rest = (rest + block).split(b"\n")
            for raw in whole:
                end = begin + len(raw) + 1
                yield from _placed(raw, log.process_id, begin, end)
                begin = end
            if len(rest) > LONGEST_BYTES:  # no line of ours
                begin, rest = begin + len(rest), b""


def backward(log: ProcessLog, *, block_bytes: int = BLOCK_BYTES) -> Iterator[PlacedLine]:
    """Yield whole lines, the last first."""
    for file in reversed(log.files):
        begin, head = file.end, b""
        edge: int | None = None  # behind the line that `head` begins; None: it has not ended yet
        while begin > file.start:
            size = min(block_bytes, begin - file.start)
            begin -= size
            data = read_block(file, begin, size) + head
            stop = begin + len(data)
            head, *whole = data.split(b"\n")
            for raw in reversed(whole):
                start = stop - len(raw)
                if edge is not None:
                    yield from _placed(raw, log.process_id, start, edge)
                edge, stop = start, start - 1
            if len(head) > LONGEST_BYTES:  # no line of ours
                head = b""
        if edge is not None:
            yield from _placed(head, log.process_id, file.start, edge)


def end_of_lines(log: ProcessLog) -> int:
    """Return the position behind the last whole line: what follows has not ended yet."""
    return end_of_lines_in(log.files[-1])


def end_of_lines_in(file: LogFile) -> int:
    """Return the position behind the last whole line of one file."""
    begin = file.end
    while begin > file.start:
        size = min(BLOCK_BYTES, begin - file.start)
        begin -= size
        found = read_block(file, begin, size).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
    return file.start


def read_block(file: LogFile, position: int, size: int) -> bytes:
    """No more than there was when it was looked at; nothing of one that is gone."""
    try:
        with file.path.open("rb") as opened:
            opened.seek(position - file.start)
            return opened.read(min(size, file.end - position))
    except FileNotFoundError:
        return b""


def _placed(raw: bytes, process_id: str, start: int, end: int) -> Iterator[PlacedLine]:
    """The line; nothing for what the end of a file or a full disk left of one."""
    if len(raw) <= STAMP_CHARACTERS or raw[STAMP_CHARACTERS - 1 : STAMP_CHARACTERS + 1] != b"Z ":
        return
    stamp, _, rest = raw.decode(errors="replace").partition(" ")
    stream, _, text = rest.partition(" ")
    try:
        at = datetime.fromisoformat(stamp)
    except ValueError:
        return
    if stream in {"stdout", "stderr"}:
        yield PlacedLine(
            LogLine(at=at, process_id=process_id, stream=stream, text=text), start, end
        )
