"""What did a job's processes write? Their lines in order of time, in bounded memory.

Lines of one process are in order of time; several are merged. Without `worker`, the coordinator's
log is left out: it is about the platform, not about the job.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from cluster.logs import log_files
from cluster.logs.log_blocks import BLOCK_BYTES, PlacedLine, backward, end_of_lines, forward
from cluster.logs.log_files import ProcessLog
from cluster.logs.log_positions import LogPositions
from cluster.worker_host import LogLine, ProcessRole

MOST_BYTES: Final = 4 << 20  # of one answer
_BLOCKS_BYTES: Final = 1 << 20  # of all blocks that one reader holds
_LEAST_BLOCK_BYTES: Final = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadStart:
    """Where a reader begins, and what is left out by that."""

    positions: LogPositions
    has_earlier: bool  # lines that could be asked for
    is_trimmed: bool  # lines were dropped, since a log became too long


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPage:
    """The last lines of a job."""

    lines: list[LogLine]
    beginning: ReadStart


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedLog:
    """What of a process's log was dropped before it could be read."""

    process_id: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLog:
    """A job's log; only that of one process, if `worker` is named."""

    job_id: str
    state_dir: Path
    worker: str | None = None

    def page(self, *, tail: int, most_bytes: int = MOST_BYTES) -> LogPage:
        """The last lines there are; fewer, if they are long."""
        beginning = self.last(tail, most_bytes=most_bytes)
        lines = list(islice((line.line for line in self.lines(beginning.positions)), tail))
        return LogPage(lines=lines, beginning=beginning)

    def last(self, tail: int, *, most_bytes: int = MOST_BYTES) -> ReadStart:
        """Return where the last lines begin; fewer, if they are long."""
        logs = self.logs()
        block_bytes = block_bytes_for(logs)
        newest_first = heapq.merge(
            *(backward(log, block_bytes=block_bytes) for log in reversed(logs)),
            key=lambda placed: placed.line.at,
            reverse=True,
        )
        positions = {log.process_id: end_of_lines(log) for log in logs}
        held = 0
        for placed in islice(newest_first, tail):
            held += placed.size
            if held > most_bytes:
                break
            positions[placed.line.process_id] = placed.start
        begin = LogPositions(self.job_id, dict(positions))
        begin.settle(logs)
        return ReadStart(
            positions=begin,
            has_earlier=any(positions[log.process_id] > log.start for log in logs),
            is_trimmed=self._is_trimmed(logs),
        )

    def first(self) -> ReadStart:
        """Return where the first line is that is left."""
        logs = self.logs()
        positions = LogPositions(self.job_id, {log.process_id: log.start for log in logs})
        return ReadStart(positions=positions, has_earlier=False, is_trimmed=self._is_trimmed(logs))

    def lines(self, positions: LogPositions) -> Iterator[PlacedLine]:
        """Yield what stands behind these positions now, which do not change."""
        logs = self.logs()
        block_bytes = block_bytes_for(logs)
        yield from heapq.merge(
            *(forward(log, positions.of(log), block_bytes=block_bytes) for log in logs),
            key=lambda placed: placed.line.at,
        )

    def news(self, positions: LogPositions) -> Iterator[LogLine | DroppedLog]:
        """Yield what `lines` does, but move the positions on, and tell what was dropped."""
        logs = self.logs()
        for log in logs:
            if (position := positions.of(log)) < log.start:
                positions.by_process[log.process_id] = log.start
                yield DroppedLog(process_id=log.process_id, size=log.start - position)
        positions.settle(logs)
        for placed in self.lines(positions):
            positions.by_process[placed.line.process_id] = placed.end
            yield placed.line

    def _is_trimmed(self, logs: list[ProcessLog]) -> bool:
        folder = log_files.folder_of(self.job_id, state_dir=self.state_dir)
        is_whole_job = self.worker is None
        return any(log.start for log in logs) or (is_whole_job and log_files.is_trimmed(folder))

    def logs(self) -> list[ProcessLog]:
        """Return the logs that belong to it, as long as they are now."""
        folder = log_files.folder_of(self.job_id, state_dir=self.state_dir)
        found = log_files.logs_in(folder, process_id=self.worker)
        if self.worker is not None:
            return found
        coordinator = f"-{ProcessRole.COORDINATOR}"  # in every term
        return [log for log in found if not log.process_id.endswith(coordinator)]


def read_processes(
    process_ids: Collection[str], *, job_id: str, state_dir: Path, tail: int | None = None
) -> Iterator[LogLine]:
    """Lines of these processes of a job, in order of time; only the last `tail` of them all."""
    logs = [JobLog(job_id=job_id, state_dir=state_dir, worker=one) for one in process_ids]
    beginnings = [log.first() if tail is None else log.last(tail) for log in logs]
    lines = heapq.merge(
        *(log.lines(begin.positions) for log, begin in zip(logs, beginnings, strict=True)),
        key=lambda placed: placed.line.at,
    )
    log_lines = [placed.line for placed in lines]
    return iter(log_lines if tail is None else log_lines[max(len(log_lines) - tail, 0) :])


def block_bytes_for(logs: Collection[ProcessLog]) -> int:
    """Return how much of each log a reader of them all holds at once."""
    return max(min(BLOCK_BYTES, _BLOCKS_BYTES // max(len(logs), 1)), _LEAST_BLOCK_BYTES)
