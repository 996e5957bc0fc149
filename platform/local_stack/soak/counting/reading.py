"""What can be counted of a service at a moment, and what did it spend between two?"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from cluster.simulated_host import conversation
from cluster.worker_host import HostUnavailable
from control_plane import database_roles

from local_stack.soak.counting import processes
from local_stack.soak.counting.database import DatabaseCounts, MeasuredDatabase
from local_stack.soak.counting.percentiles import percentile
from local_stack.soak.counting.processes import ProcessUsage
from local_stack.soak.counting.ticks import TickLog
from local_stack.soak.measured_stack import MeasuredStack

ATTEMPTS: Final = 10
PAUSE_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionLatency:
    """What passed, in seconds, between a decision and its coordinator's knowing of it."""

    waking: float  # until the coordinator was woken; 0: it asked by itself
    asking: float  # until it asked what is wanted
    telling: float  # until it was told

    @property
    def seconds(self) -> float:
        return self.waking + self.asking + self.telling

    @classmethod
    def of(cls, decided_at: float, news: Mapping[str, Any]) -> DecisionLatency:
        """A service that has woken it before had another reason."""
        woken_at = min(max(news["woken_at"], decided_at), news["told_at"])
        asked_at = min(max(news["asked_at"], woken_at), news["told_at"])
        return cls(
            waking=woken_at - decided_at,
            asking=asked_at - woken_at,
            telling=max(news["told_at"] - asked_at, 0.0),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StackReading:
    """A moment."""

    at: float
    usages: Mapping[str, ProcessUsage]
    database: DatabaseCounts
    tick_seconds: tuple[float, ...]  # of the ticks since the reading before
    reports: int  # answered since the simulator began
    failures: Mapping[str, int]  # of reports, by what was said
    report_seconds: tuple[float, ...]  # that answers took since the reading before
    hearing: tuple[DecisionLatency, ...]  # of decisions since then

    @property
    def hearing_seconds(self) -> tuple[float, ...]:
        """Return the time from a decision until the coordinator knew."""
        return tuple(one.seconds for one in self.hearing)


class StackGauge:
    """Takes readings of one stack."""

    def __init__(self, stack: MeasuredStack) -> None:
        self._stack = stack
        self.database = MeasuredDatabase(stack.database_url)
        self._ticks = TickLog(stack.checkout.logs_dir / "control.log")
        self._read_at = time.time()

    def read(self, *, with_memory: bool = True) -> StackReading:
        """Raises: HostUnavailable, psycopg2.Error."""
        counts = self._told_by_the_simulator()
        before, self._read_at = self._read_at, time.time()
        return StackReading(
            at=time.time(),
            usages=processes.usages(self._stack.checkout, with_memory=with_memory),
            database=self.database.counts(),
            tick_seconds=tuple(self._ticks.seconds()),
            reports=counts["answered"],
            failures=counts["failures"],
            report_seconds=tuple(counts["seconds"]),
            hearing=tuple(self._hearing(counts["news"], seconds=time.time() - before)),
        )

    def _told_by_the_simulator(self) -> Any:
        """It may take longer on a busy machine than the service has patience with it."""
        for _ in range(ATTEMPTS):
            try:
                return conversation.ask(self._stack.state_dir, "counts")
            except HostUnavailable:
                time.sleep(PAUSE_SECONDS)
        return conversation.ask(self._stack.state_dir, "counts")

    def _hearing(self, news: list[Any], *, seconds: float) -> list[DecisionLatency]:
        """A revision of a job that the database does not know as new was no decision of late."""
        decided = self.database.assignments(seconds + 60.0)
        return [
            DecisionLatency.of(decided[one["job_id"], one["revision"]], one)
            for one in news
            if (one["job_id"], one["revision"]) in decided
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpentBetween:
    """What happened between two readings."""

    first: StackReading
    last: StackReading

    @property
    def seconds(self) -> float:
        return self.last.at - self.first.at

    @property
    def reports(self) -> int:
        return self.last.reports - self.first.reports

    @property
    def failures(self) -> Counter[str]:
        """Return those of reports, by what was said."""
        return Counter(self.last.failures) - Counter(self.first.failures)

    @property
    def ticks(self) -> int:
        return self.last.database.ticks - self.first.database.ticks

    def processor_seconds(self, *names: str) -> float:
        """Add up these processes; those that were started between count from their start."""
        return sum(
            max(usage.processor_seconds - self._before(name), 0.0)
            for name, usage in self.last.usages.items()
            if name in names
        )

    def statements(self, role: str) -> int:
        first, last = self.first.database.statements, self.last.database.statements
        return last.get(role, 0) - first.get(role, 0)

    def statement_seconds(self, role: str) -> float:
        first, last = self.first.database.statement_seconds, self.last.database.statement_seconds
        return last.get(role, 0.0) - first.get(role, 0.0)

    @property
    def statements_per_tick(self) -> float | None:
        return self.statements(database_roles.CONTROL) / self.ticks if self.ticks else None

    @property
    def grown_bytes_by_table(self) -> Mapping[str, float]:
        """Rows that stay, with what one takes now: room for changes is used again and again."""
        before = self.first.database.tables
        return {
            name: (table.kept - before[name].kept) * table.row_bytes
            for name, table in self.last.database.tables.items()
            if name in before
        }

    @property
    def grown_bytes(self) -> float:
        """Return by how much all tables have grown."""
        return sum(self.grown_bytes_by_table.values())

    def tick_percentile(self, share: float) -> float | None:
        return percentile(self.last.tick_seconds, share)

    def _before(self, name: str) -> float:
        usage = self.first.usages.get(name)
        return usage.processor_seconds if usage else 0.0
