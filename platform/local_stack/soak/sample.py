"""What is written down of a soak, each time somebody looks? And what belongs together of many?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from local_stack.soak.counting.reading import SpentBetween, StackReading
from local_stack.soak.users.requests import RequestOutcome, refused

MEBIBYTE: Final = 2.0**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One look, with what happened since the one before."""

    seconds: float  # since the jobs were there
    live_jobs: int
    memory_mib: Mapping[str, float]  # by process
    cores: Mapping[str, float]
    tick_seconds: tuple[float, ...]
    statements_per_tick: float | None
    report_seconds: tuple[float, ...]
    reports_per_second: float
    failures: Mapping[str, int]  # of reports, by what was said
    hearing_seconds: tuple[float, ...]
    api_seconds: tuple[float, ...]  # of reads
    failed_reads: tuple[str, ...]
    oldest_queued_seconds: float
    tasks_waiting: Mapping[str, int]  # for control and io
    database_bytes: int
    connections: int
    api_threads: int


def between(
    first: StackReading,
    last: StackReading,
    *,
    began_at: float,
    reads: Sequence[RequestOutcome],
    tasks_waiting: Mapping[str, int],
) -> Sample:
    spent = SpentBetween(first=first, last=last)
    names = [name for name in last.usages if name in first.usages]
    return Sample(
        seconds=last.at - began_at,
        live_jobs=live(last),
        memory_mib={name: last.usages[name].memory_bytes / MEBIBYTE for name in names},
        cores={name: spent.processor_seconds(name) / spent.seconds for name in names},
        tick_seconds=last.tick_seconds,
        statements_per_tick=spent.statements_per_tick,
        report_seconds=last.report_seconds,
        reports_per_second=spent.reports / spent.seconds,
        failures=spent.failures,
        hearing_seconds=last.hearing_seconds,
        api_seconds=tuple(one.seconds for one in reads),
        failed_reads=tuple(map(str, refused(reads))),
        oldest_queued_seconds=last.database.oldest_queued_seconds,
        tasks_waiting=tasks_waiting,
        database_bytes=sum(table.size for table in last.database.tables.values()),
        connections=sum(last.database.connections.values()),
        api_threads=last.usages["api"].threads if "api" in last.usages else 0,
    )


def live(reading: StackReading) -> int:
    """Jobs that are not over."""
    over = {"completed", "failed", "cancelled"}
    return sum(count for state, count in reading.database.jobs.items() if state not in over)


def latter_half(samples: Sequence[Sample]) -> Sequence[Sample]:
    """Those after the jobs came, when the number of jobs no longer grows."""
    return samples[len(samples) // 2 :]
