"""Are the goals met? What was measured at one number of jobs, beside what it should be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from autoscaler.plots.units import significant
from benchmarks.service_load.measurement import Measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A bound for something that was measured."""

    what: str
    unit: str
    value: Callable[[Measurement], float | None]
    most: float | None = None
    least: float | None = None

    def is_met(self, measured: Measurement) -> bool | None:
        """None: it was not seen, or there is no bound."""
        value = self.value(measured)
        if value is None or (self.most is None and self.least is None):
            return None
        rounded = round(value, 1) if abs(value) > 1 else value  # somebody else's request is in it
        return (self.most is None or rounded <= self.most) and (
            self.least is None or rounded >= self.least
        )

    @property
    def bound(self) -> str:
        if self.most is not None:
            return f"at most {significant(self.most)}"
        return "" if self.least is None else f"at least {significant(self.least)}"


def _per_second(milliseconds: float | None) -> float | None:
    """What two cores would take, without the generator of the load; calculated, not measured."""
    return 2000 / milliseconds if milliseconds else None


GOALS: Final = (
    Goal(
        what="running jobs",
        unit="jobs",
        value=lambda one: float(one.running),
    ),
    Goal(
        what="cores for the reports of all jobs (api, PostgreSQL)",
        unit="cores",
        value=lambda one: one.report_cores,
        most=1.2,
    ),
    Goal(what="reports that failed", unit="", value=lambda one: one.failed_reports, most=0),
    Goal(what="reports", unit="/s", value=lambda one: one.reports_per_second),
    Goal(what="a report, processor time", unit="ms", value=lambda one: one.report_ms),
    Goal(what="a report, statements", unit="", value=lambda one: one.report_statements, most=3),
    Goal(
        what="from a decision until the coordinator knows, p95",
        unit="s",
        value=lambda one: one.hearing_seconds_p95,
        most=0.3,
    ),
    Goal(what="a tick, p50", unit="s", value=lambda one: one.tick_seconds_p50, most=1.0),
    Goal(
        what="a tick while a tenth of the jobs is replaced, p99",
        unit="s",
        value=lambda one: one.changing_tick_seconds_p99,
    ),
    Goal(
        what="a tick while a tenth of the jobs is replaced, statements",
        unit="",
        value=lambda one: one.changing_tick_statements,
    ),
    Goal(what="a tick, processor time of control", unit="ms", value=lambda one: one.tick_ms),
    Goal(what="a tick, statements", unit="", value=lambda one: one.tick_statements, most=60),
    Goal(
        what="submits, one by one, that two cores take",
        unit="/s",
        value=lambda one: _per_second(one.submit_ms),
        least=150,
    ),
    Goal(
        what="submits in one request that two cores take",
        unit="/s",
        value=lambda one: _per_second(one.bulk_ms),
        least=1000,
    ),
    Goal(
        what="the slowest read beside all that, p95",
        unit="s",
        value=lambda one: max(read["p95_seconds"] for read in one.reads.values()),
        most=0.2,
    ),
    Goal(
        what="growth of the database a day, before roll-ups and retention",
        unit="GB",
        value=lambda one: one.gigabytes_per_day,
        most=3,
    ),
    Goal(
        what="look-ahead and other background work", unit="cores", value=lambda one: one.cores["io"]
    ),
    Goal(what="all processes of the service", unit="cores", value=lambda one: one.service_cores),
    Goal(
        what="memory of all processes of the service",
        unit="MiB",
        value=lambda one: sum(v for k, v in one.memory_mib.items() if k != "simulator"),
    ),
    Goal(what="threads of the api", unit="", value=lambda one: one.threads["api"]),
    Goal(
        what="connections of the database", unit="", value=lambda one: sum(one.connections.values())
    ),
)


def overview(measured: Sequence[Measurement]) -> Iterator[str]:
    """Yield a table in Markdown with a column for each number of jobs."""
    yield " | ".join(("| what | goal", *(f"{one.jobs} jobs" for one in measured))) + " |"
    yield "|---|---|" + "---|" * len(measured)
    for goal in GOALS:
        values = (_told(goal, one) for one in measured)
        yield " | ".join((f"| {goal.what}", goal.bound, *values)) + " |"


def _told(goal: Goal, measured: Measurement) -> str:
    value = goal.value(measured)
    figure = "–" if value is None else f"{significant(value)} {goal.unit}".strip()  # noqa: RUF001
    return f"**{figure}**" if goal.is_met(measured) is False else figure


def lines(measured: Measurement) -> Iterator[str]:
    """A table in Markdown."""
    yield f"**{measured.jobs} jobs** ({measured.machine}, load {measured.load:.1f})"
    yield ""
    yield "| what | goal | measured | met |"
    yield "|---|---|---|---|"
    for goal in GOALS:
        met = {True: "yes", False: "no", None: ""}[goal.is_met(measured)]
        yield f"| {goal.what} | {goal.bound} | {_told(goal, measured)} | {met} |"
    yield ""
    yield "| read | p95 s | ms of the api | statements | bytes | failed |"
    yield "|---|---|---|---|---|---|"
    for path, read in measured.reads.items():
        columns = ("p95_seconds", "ms", "statements", "bytes", "failed")
        yield " | ".join((f"| `{path}`", *(significant(read[name]) for name in columns))) + " |"
    yield from ("", "| of a decision's way to the coordinator | p95 s |", "|---|---|")
    for part, seconds in measured.hearing_parts_p95.items():
        yield f"| {part} | {'–' if seconds is None else significant(seconds)} |"  # noqa: RUF001
    yield from ("", "| table | GB a day |", "|---|---|")
    for table, gigabytes in sorted(measured.growth.items(), key=lambda one: -one[1]):
        yield f"| {table} | {significant(gigabytes)} |"
