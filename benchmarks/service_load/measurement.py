"""What came out of a run at one number of jobs? Costs and counts rather than times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """Milliseconds are of a processor, unless a name says otherwise. None: not seen."""

    jobs: int
    running: int  # when the measurement began
    machine: str
    load: float  # of the machine while it was measured, ours included

    submit_ms: float  # api and PostgreSQL
    submits_per_second: float  # with eight at a time, as measured
    bulk_ms: float | None  # for each job of one request; None: there is no such request

    reports_per_second: float
    failed_reports: int
    report_ms: float | None  # api and PostgreSQL
    report_statements: float | None
    report_seconds_p95: float | None  # until the answer came
    hearing_seconds_p95: float | None  # from a decision until the coordinator knew
    hearing_parts_p95: Mapping[str, float | None]  # of what passed on the way

    ticks: int
    tick_statements: float | None
    tick_ms: float | None  # control alone
    tick_seconds_p50: float | None
    tick_seconds_p99: float | None
    changing_tick_statements: float | None  # while a tenth of the jobs is replaced
    changing_tick_seconds_p99: float | None

    cores: Mapping[str, float]  # used while jobs only run, by process
    connections: Mapping[str, int]  # of the database, by role
    threads: Mapping[str, int]
    memory_mib: Mapping[str, float]  # proportional set size
    gigabytes_per_day: float  # that tables and indexes would grow by
    growth: Mapping[str, float]  # the same of each table

    reads: Mapping[str, Mapping[str, float]]  # path to p95_seconds, statements, bytes, ms

    @property
    def service_cores(self) -> float:
        """Used by all processes but the simulator."""
        return sum(value for name, value in self.cores.items() if name != "simulator")

    @property
    def report_cores(self) -> float | None:
        """For the reports of all jobs."""
        if self.report_ms is None:
            return None
        return self.report_ms * self.reports_per_second / 1000

    def document(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Measurement:
        return cls(**document)
