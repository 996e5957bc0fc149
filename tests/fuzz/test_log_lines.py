"""Whatever a job writes: can its log be read, exactly, harmlessly and within its bound?"""

from __future__ import annotations

import copy
import os
import tempfile
import unicodedata
from itertools import islice
from pathlib import Path
from typing import Any

from cluster.docker_host.logs.copied_log import CopiedLog
from cluster.docker_host.logs.copying import copy_message, copy_rest
from cluster.docker_host.logs.cursors import LogCursor, LogDeduplicator
from cluster.docker_host.logs.messages import Message
from cluster.logs import log_files, log_positions
from cluster.logs.log_files import LogBounds
from cluster.logs.log_lines import MOST_BYTES_PER_LINE, LineLog, LineSplitter, readable
from cluster.logs.log_store import JobLog
from cluster.worker_host import LogLine
from hypothesis import strategies as st

from concertina.terminal.harmless import coloured, json_text, plain
from tests.fuzz.conftest import Fuzz

JOB, PROCESS = "job1", "job1-1-1"
ROOMY = LogBounds(process_bytes=1 << 16, job_bytes=1 << 30)  # a new file each 16 KiB
LONG = {"16 KiB": b"y" * MOST_BYTES_PER_LINE, "5 kB": b"z" * 5000}  # by name: examples stay short
PIECES = st.one_of(
    st.sampled_from([b"\r", b"\n", b"\r\n", b"\x1b[31m", b"\x1b]0;t\x07", b"\x9b"]),
    st.sampled_from(["\u202e".encode(), b"\x00", b"\x85"]),
    st.sampled_from(list(LONG)),
    st.binary(max_size=12),
)
Reads = list[tuple[str, list[bytes | str]]]
READS = st.lists(
    st.tuples(st.sampled_from(["stdout", "stderr"]), st.lists(PIECES, max_size=5)), max_size=20
)
WRITTEN = st.fixed_dictionaries(
    {"reads": READS, "breaks": st.lists(st.integers(0, 30), max_size=4), "tail": st.integers(0, 30)}
)
COPIED = st.fixed_dictionaries(
    {
        "reads": READS,
        "moments": st.lists(st.integers(0, 2), min_size=20, max_size=20),
        "noted": st.integers(0, 20),  # after so many messages the cursor was last written
        "died": st.integers(0, 20),  # so many more were copied
        "torn": st.integers(0, 200),  # bytes of those that did not reach the disk
    }
)


def _joined(reads: Reads) -> list[tuple[str, bytes]]:
    def in_full(piece: bytes | str) -> bytes:
        return LONG[piece] if isinstance(piece, str) else piece

    return [(stream, b"".join(map(in_full, pieces))) for stream, pieces in reads]


def log_in(folder: Path) -> JobLog:
    return JobLog(job_id=JOB, state_dir=folder)


def told(folder: Path) -> list[tuple[str, str]]:
    return [(line.stream, line.text) for line in log_in(folder).page(tail=100_000).lines]


def test_what_a_process_writes_is_read_line_by_line(fuzz: Fuzz) -> None:
    def holds(example: dict[str, Any]) -> None:
        with tempfile.TemporaryDirectory() as name:
            _written_and_read(Path(name), **example)

    fuzz(WRITTEN, holds, in_suite=60)


def _written_and_read(folder: Path, *, reads: Reads, breaks: list[int], tail: int) -> None:
    path = log_files.path_of(PROCESS, job_id=JOB, state_dir=folder)
    log, splitters = LineLog(path, ROOMY), {name: LineSplitter() for name in ("stdout", "stderr")}
    expected = []
    for stream, data in [*_joined(reads), ("stdout", b""), ("stderr", b"")]:
        splitter = splitters[stream]
        lines = splitter.feed(data, now=0.0) if data else splitter.flush()
        assert all(len(line) <= MOST_BYTES_PER_LINE for line in lines)
        assert splitter.held_bytes <= MOST_BYTES_PER_LINE + 1
        log.write(stream, lines)
        expected += [(stream, readable(line)) for line in lines]
    log.close()
    whole = told(folder)
    is_trimmed = log_files.is_trimmed(path.parent)
    assert whole == (expected[len(expected) - len(whole) :] if is_trimmed else expected)
    _harmless(text for _, text in whole)
    seen, text = [], log_in(folder).last(tail).positions.text()
    for most in [*breaks, None]:
        positions = log_positions.parse(text, job_id=JOB)
        for line in islice(log_in(folder).news(positions), most):
            assert isinstance(line, LogLine)
            seen.append((line.stream, line.text))
            text = positions.text()
    assert seen == (whole[-tail:] if tail else [])


def _harmless(texts: Any) -> None:
    for text in texts:
        assert not [c for c in plain(text) if c != "\t" and unicodedata.category(c) == "Cc"]
        assert plain(coloured(text)) == plain(text)
        json_text(text).encode()


def test_a_copy_that_dies_anywhere_goes_on_exactly(fuzz: Fuzz) -> None:
    def holds(example: dict[str, Any]) -> None:
        with tempfile.TemporaryDirectory() as name:
            _copied_twice(Path(name), **example)

    fuzz(COPIED, holds, in_suite=60)


def _copied_twice(
    folder: Path,
    *,
    reads: Reads,
    moments: list[int],
    noted: int,
    died: int,
    torn: int,
) -> None:
    messages = _messages(reads, moments)
    whole, broken = folder / "whole", folder / "broken"
    _copy(whole, messages, LogCursor())
    cursor = _died(broken, messages, noted=noted, died=died, torn=torn)
    _copy(broken, messages, cursor)
    assert told(broken) == told(whole)


def _messages(reads: Reads, moments: list[int]) -> list[Message]:
    """As Docker tells them: pieces of lines, each at a moment that never goes back."""
    at, found = 0, []
    for (stream, data), more in zip(_joined(reads), moments, strict=False):
        for line in data.splitlines(keepends=True) if b"\n" in data else [data]:
            at += more
            stamp = f"2026-11-21T07:33:{at:02}.123456789Z"
            found.append(Message(stream, stamp, line.rstrip(b"\n"), line.endswith(b"\n")))
    return found


def _copy(folder: Path, messages: list[Message], cursor: LogCursor) -> None:
    news, log = LogDeduplicator(cursor), _opened(folder, cursor)
    for message in messages:
        if news.has(message.stream, message.at):
            copy_message(message, cursor, log)
    copy_rest(cursor, log)
    log.close()


def _died(folder: Path, messages: list[Message], *, noted: int, died: int, torn: int) -> LogCursor:
    cursor = LogCursor()
    log = _opened(folder, cursor)
    note = copy.deepcopy(cursor)
    for number, message in enumerate(messages[: noted + died]):
        copy_message(message, cursor, log)
        log.flush()
        if number < noted:
            cursor.file_bytes = log.end
            note = copy.deepcopy(cursor)
    log.close()
    newest = log_files.logs_in(log_files.folder_of(JOB, state_dir=folder))[0].files[-1]
    keep = max(newest.size - torn, note.file_bytes - newest.start, 0)
    os.truncate(newest.path, keep)
    return note


def _opened(folder: Path, cursor: LogCursor) -> CopiedLog:
    path = log_files.path_of(PROCESS, job_id=JOB, state_dir=folder)
    return CopiedLog(path, position=cursor.file_bytes, bounds=LogBounds(process_bytes=1 << 20))
