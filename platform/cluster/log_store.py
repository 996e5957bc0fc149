"""What did a job's processes write? Reads the log files that the worker host leaves behind.

One file per process, `logs/<job>/<process id>.log` in the state folder, one line per line:
`2026-11-21T07:33:19.123456Z stdout the text`. Files only ever grow, and lines of one file are in
order of time, so reading merges, and following remembers how far it has read each file. Without
`worker`, the coordinator's file is left out: it is about the platform, not about the job.
"""

from __future__ import annotations

import asyncio
import heapq
import os
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from cluster.worker_host import LogLine, Role

POLL_SECONDS: Final = 0.3  # guessed: quick enough to feel live, slow enough to cost nothing
_BLOCK_BYTES: Final = 64 * 1024


def path_of(process_id: str, *, job_id: str, state_dir: Path) -> Path:
    """Where the process's lines are."""
    return folder_of(job_id, state_dir=state_dir) / f"{process_id}.log"


def folder_of(job_id: str, *, state_dir: Path) -> Path:
    return state_dir / "logs" / job_id


def read(
    job_id: str, *, state_dir: Path, worker: str | None = None, tail: int | None = None
) -> list[LogLine]:
    """Lines of the job in order of time; only those of one process, only the last `tail`."""
    paths = _paths(job_id, state_dir=state_dir, worker=worker)
    if tail is None:
        return list(merge(_lines(path) for path in paths))
    merged = list(merge(iter(_last_lines(path, tail)) for path in paths))
    return merged[-tail:] if tail > 0 else []


async def follow(
    job_id: str,
    *,
    state_dir: Path,
    worker: str | None = None,
    tail: int | None = None,
    is_final: Callable[[], Awaitable[bool]],
) -> AsyncIterator[list[LogLine]]:
    """What each look finds, perhaps nothing: every line once, as they come; ends with the job.

    Begins with the first line there is, or with the last `tail` of them. Workers that start later
    are followed too. `is_final` is asked before each look, so that what was written before the job
    became final is never missed.
    """
    is_last_look = await is_final()
    paths = _paths(job_id, state_dir=state_dir, worker=worker) if tail is not None else []
    offsets = {path: await asyncio.to_thread(_start_of_last, path, tail or 0) for path in paths}
    first = await asyncio.to_thread(_fresh, job_id, state_dir, worker, offsets)
    yield first if tail is None else first[max(len(first) - tail, 0) :]
    while not is_last_look:
        await asyncio.sleep(POLL_SECONDS)
        is_last_look = await is_final()
        yield await asyncio.to_thread(_fresh, job_id, state_dir, worker, offsets)


def read_processes(
    process_ids: Collection[str], *, job_id: str, state_dir: Path, tail: int | None = None
) -> Iterator[LogLine]:
    """Lines of these processes of a job, in order of time; only the last `tail` of them all."""
    lines = merge(
        iter(read(job_id, state_dir=state_dir, worker=process_id, tail=tail))
        for process_id in sorted(set(process_ids))
    )
    return lines if tail is None else iter(deque(lines, maxlen=tail))


def merge(sources: Iterator[Iterator[LogLine]]) -> Iterator[LogLine]:
    """Lines of several sources, each in order, in order of time."""
    return heapq.merge(*sources, key=lambda line: line.at)


def _paths(job_id: str, *, state_dir: Path, worker: str | None) -> list[Path]:
    folder = folder_of(job_id, state_dir=state_dir)
    if worker is not None:
        path = folder / f"{worker}.log"
        return [path] if path.parent == folder and path.is_file() else []
    coordinator = f"-{Role.COORDINATOR}.log"
    return sorted(path for path in folder.glob("*.log") if not path.name.endswith(coordinator))


def _lines(path: Path) -> Iterator[LogLine]:
    with path.open("rb") as file:
        for raw in file:
            yield from _parsed(raw, path.stem)


def _fresh(
    job_id: str, state_dir: Path, worker: str | None, offsets: dict[Path, int]
) -> list[LogLine]:
    """Whole lines behind the offsets, which move on."""
    sources: list[list[LogLine]] = []
    for path in _paths(job_id, state_dir=state_dir, worker=worker):
        with path.open("rb") as file:
            file.seek(offsets.get(path, 0))
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        offsets[path] = offsets.get(path, 0) + len(whole)
        sources.append([line for raw in whole.split(b"\n") for line in _parsed(raw, path.stem)])
    return list(merge(iter(lines) for lines in sources))


def _last_lines(path: Path, count: int) -> list[LogLine]:
    """The last whole lines of a file."""
    with path.open("rb") as file:
        file.seek(_start_of_last(path, count))
        data = file.read()
    whole = data[: data.rfind(b"\n") + 1].split(b"\n")[:-1]
    kept = whole[-count:] if count > 0 else []  # more may have come since
    return [line for raw in kept for line in _parsed(raw, path.stem)]


def _start_of_last(path: Path, count: int) -> int:
    """Where the last whole lines begin, looked for from the end of the file."""
    with path.open("rb") as file:
        position = file.seek(0, os.SEEK_END)
        data = b""
        while position > 0 and data.count(b"\n") <= count:
            step = min(_BLOCK_BYTES, position)
            position -= step
            file.seek(position)
            data = file.read(step) + data
    end = data.rfind(b"\n") + 1
    lines = data[:end].split(b"\n")[:-1]
    kept = lines[-count:] if count > 0 else []
    return position + end - sum(len(line) + 1 for line in kept)


def _parsed(raw: bytes, process_id: str) -> Iterator[LogLine]:
    """The line; nothing for what the end of a file or a full disk left of one."""
    stamp, _, rest = raw.rstrip(b"\n").decode(errors="replace").partition(" ")
    stream, _, text = rest.partition(" ")
    try:
        at = datetime.strptime(stamp, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    except ValueError:
        return
    yield LogLine(at=at, process_id=process_id, stream=stream, text=text)
