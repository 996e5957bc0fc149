"""What does a service cost that carries so many jobs? Submits, then rest, then reads beside it."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from control_plane import database_roles
from local_stack.soak.counting.percentiles import percentile
from local_stack.soak.counting.processes import standing_still
from local_stack.soak.counting.reading import SpentBetween, StackGauge
from local_stack.soak.measured_stack import measured_stack
from local_stack.soak.users.requests import Caller, refused, spec

from benchmarks.service_load.measurement import Measurement
from benchmarks.service_load.reads import called_since, read_beside

LOOK_SECONDS: Final = 0.5
AT_REST_TICKS: Final = 2  # in which nothing is decided: first sizes have been tried out
LONGEST_SETTLING_SECONDS: Final = 180.0
START_SECONDS: Final = 120.0  # that jobs may take to run; those that do not are told as missing
SERVICE: Final = ("api", "postgres")
DAY: Final = 86_400.0
GIGABYTE: Final = 1e9
MEBIBYTE: Final = 2.0**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What the service is to carry."""

    jobs: int
    ticks: int = 6  # for which it is measured
    tick_seconds: float = 5.0
    most_workers: int = 4  # of each job
    options: tuple[str, ...] = ()  # of `simulated`
    age_seconds: float = 3600.0  # of the jobs, as of most that run
    changed_share: float = 0.1  # of the jobs, at the end
    read_rounds: int = 10

    def specs(self, name: str) -> list[dict[str, Any]]:
        return [
            spec(f"{name}-{number}", *self.options, most_workers=self.most_workers)
            for number in range(self.jobs)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Submitted:
    ids: tuple[str, ...]
    ms: float
    per_second: float
    bulk_ms: float | None


def measure(load: Load, *, say: Callable[[str], None]) -> Measurement:
    """Measure a service while it carries this."""
    slots = max(load.most_workers - 1, 1) * load.jobs  # they share, and so they change
    with (
        measured_stack(slots=slots, tick_seconds=load.tick_seconds, say=say) as stack,
        Caller(stack) as caller,
    ):
        gauge = StackGauge(stack)
        say(f"Submitting {load.jobs} jobs, while nothing is started")
        with standing_still(stack.checkout, "control"):
            submitted = _submit(load, gauge, caller)
        running = _wait_until_running(load.jobs, gauge, say)
        gauge.database.make_older(load.age_seconds)
        _settle(gauge)
        say(f"Measuring {load.ticks} ticks with {running} running jobs")
        before, calls = gauge.read(), gauge.database.calls(database_roles.API)
        _let_pass(load.ticks, gauge)
        spent = SpentBetween(first=before, last=gauge.read())
        say("Reading beside them")
        of_reports = frozenset(called_since(gauge, calls))
        reads = read_beside(
            stack,
            gauge,
            ids=submitted.ids,
            rest=spent,
            of_reports=of_reports,
            rounds=load.read_rounds,
        )
        say("Changing some of the jobs")
        changing = _change(load, gauge, caller, submitted.ids)
        return _measurement(
            load.jobs, running, submitted, rest=spent, changing=changing, reads=reads
        )


def _submit(load: Load, gauge: StackGauge, caller: Caller) -> _Submitted:
    first = gauge.read()
    answers = caller.submit(load.specs("load"))
    spent = SpentBetween(first=first, last=gauge.read())
    if bad := refused(answers):
        raise RuntimeError(f"{len(bad)} submits were refused: {bad[0].status} {bad[0].document}")
    milliseconds = 1000 * spent.processor_seconds(*SERVICE)
    return _Submitted(
        ids=tuple(answer.document["id"] for answer in answers),
        ms=milliseconds / load.jobs,
        per_second=load.jobs / spent.seconds,
        bulk_ms=_bulk_ms(load, gauge, caller),
    )


def _bulk_ms(load: Load, gauge: StackGauge, caller: Caller) -> float | None:
    """As many again, in one request, which are canceled at once: nothing is to run of them."""
    first = gauge.read()
    answer = caller.submit_together(load.specs("bulk"))
    if not answer.is_good:
        return None
    spent = SpentBetween(first=first, last=gauge.read())
    caller.cancel(job["id"] for job in answer.document["items"])
    return 1000 * spent.processor_seconds(*SERVICE) / load.jobs


def _wait_until_running(jobs: int, gauge: StackGauge, say: Callable[[str], None]) -> int:
    deadline = time.monotonic() + START_SECONDS
    running = 0
    while running < jobs and time.monotonic() < deadline:
        time.sleep(LOOK_SECONDS)
        states = gauge.database.jobs()
        running = states.get("running", 0) + states.get("rescaling", 0)
    say(f"{running} of {jobs} run; letting them settle")
    return running


def _settle(gauge: StackGauge) -> None:
    """Wait until every job is as it is wanted, and nothing else is wanted any more."""
    deadline = time.monotonic() + LONGEST_SETTLING_SECONDS
    before = -1
    while time.monotonic() < deadline:
        _let_pass(AT_REST_TICKS, gauge)
        counts = gauge.database.counts()
        assignments = counts.tables["jobs_assignment"].kept
        if assignments == before and set(counts.jobs) <= {"running", "cancelled"}:
            return
        before = assignments


def _change(load: Load, gauge: StackGauge, caller: Caller, ids: Sequence[str]) -> SpentBetween:
    """End some jobs and let as many others come, which grow as the first ones did."""
    count = int(load.jobs * load.changed_share)
    first = gauge.read()
    caller.cancel(ids[:count])
    caller.submit(load.specs("late")[:count])
    _let_pass(load.ticks if count else 0, gauge)
    return SpentBetween(first=first, last=gauge.read())


def _let_pass(ticks: int, gauge: StackGauge) -> None:
    until = gauge.database.ticks() + ticks
    deadline = time.monotonic() + START_SECONDS
    while gauge.database.ticks() < until and time.monotonic() < deadline:
        time.sleep(LOOK_SECONDS)


def _measurement(
    jobs: int,
    running: int,
    submitted: _Submitted,
    *,
    rest: SpentBetween,
    changing: SpentBetween,
    reads: dict[str, Any],
) -> Measurement:
    spent, last = rest, rest.last
    p95 = percentile(last.report_seconds, 0.95)
    return Measurement(
        jobs=jobs,
        running=running,
        machine=f"{os.cpu_count()} cores, {platform.machine()}",
        load=os.getloadavg()[0],
        submit_ms=submitted.ms,
        submits_per_second=submitted.per_second,
        bulk_ms=submitted.bulk_ms,
        reports_per_second=spent.reports / spent.seconds,
        failed_reports=spent.failures.total(),
        report_ms=_each(1000 * _of_reports(spent), spent.reports),
        report_statements=_each(spent.statements(database_roles.API), spent.reports),
        report_seconds_p95=p95,
        hearing_seconds_p95=percentile(changing.last.hearing_seconds, 0.95),
        hearing_parts_p95=_hearing_parts(changing),
        ticks=spent.ticks,
        tick_statements=spent.statements_per_tick,
        changing_tick_statements=changing.statements_per_tick,
        changing_tick_seconds_p99=changing.tick_percentile(0.99),
        tick_ms=_each(1000 * spent.processor_seconds("control"), spent.ticks),
        tick_seconds_p50=spent.tick_percentile(0.5),
        tick_seconds_p99=spent.tick_percentile(0.99),
        cores={name: spent.processor_seconds(name) / spent.seconds for name in last.usages},
        connections=last.database.connections,
        threads={name: usage.threads for name, usage in last.usages.items()},
        memory_mib={name: usage.memory_bytes / MEBIBYTE for name, usage in last.usages.items()},
        gigabytes_per_day=_per_day(spent.grown_bytes, spent),
        growth={
            name: _per_day(grown, spent)
            for name, grown in spent.grown_bytes_by_table.items()
            if grown
        },
        reads=reads,
    )


def _hearing_parts(spent: SpentBetween) -> dict[str, float | None]:
    heard = spent.last.hearing
    return {
        "until it is woken": percentile([one.waking for one in heard], 0.95),
        "until it asks": percentile([one.asking for one in heard], 0.95),
        "until it is told": percentile([one.telling for one in heard], 0.95),
    }


def _per_day(grown_bytes: float, spent: SpentBetween) -> float:
    return grown_bytes / spent.seconds * DAY / GIGABYTE


def _of_reports(spent: SpentBetween) -> float:
    """Processor time of the api, and PostgreSQL's by its share of the statements' time.

    Nothing else is asked of the api meanwhile. What PostgreSQL spends beside statements, on
    connections above all, is shared out in the same way.
    """
    api = spent.statement_seconds(database_roles.API)
    roles = spent.last.database.statement_seconds
    everybody = sum(spent.statement_seconds(role) for role in roles) or 1.0
    return spent.processor_seconds("api") + spent.processor_seconds("postgres") * api / everybody


def _each(amount: float, count: int) -> float | None:
    return amount / count if count else None
