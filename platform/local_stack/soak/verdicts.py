"""Did the service stand it? What was seen over the whole time, against what must hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import median
from typing import Final

from autoscaler.plots.units import significant
from local_stack.soak.counting.percentiles import percentile
from local_stack.soak.sample import Sample, latter_half

# Guessed: above the noise of a heap, below a leak that matters in a day.
MEMORY_GROWTH: Final = 0.15
MEMORY_SLACK_MIB: Final = 25.0
QUEUED_SECONDS: Final = 60.0
TASKS_WAITING: Final = 20  # a few rounds of all that is done now and then
STATEMENTS_PER_TICK: Final = 150.0  # while jobs come and go all the time
API_SECONDS: Final = 1.0  # on a machine that others use, too
FAILED_REPORTS: Final = 0.01  # of all


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One thing that must hold."""

    what: str
    seen: str
    bound: str
    holds: bool

    def __str__(self) -> str:
        return f"{'✓' if self.holds else '✗'} {self.what}: {self.seen} ({self.bound})"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What no sample has."""

    tick_seconds: float  # between two ticks
    contradictions: tuple[str, ...]
    restarts: tuple[str, ...]  # processes that had to be started again
    refused: tuple[str, ...]  # what was said to submits and orders that failed
    real_steps: tuple[int, ...]  # that the real jobs made in the second half


def verdicts(samples: Sequence[Sample], beside: RunFacts) -> list[Verdict]:
    """Judge the second half: in the first, the jobs came."""
    late = latter_half(samples)
    return [
        *_memory(late),
        _at_most(
            "oldest job that waits",
            late,
            lambda one: [one.oldest_queued_seconds],
            most=QUEUED_SECONDS,
        ),
        _at_most(
            "tasks in line",
            late,
            lambda one: [float(sum(one.tasks_waiting.values()))],
            most=TASKS_WAITING,
            unit="",
        ),
        _at_most(
            "a tick, p99", late, lambda one: one.tick_seconds, most=beside.tick_seconds, share=0.99
        ),
        _at_most(
            "statements of a tick, median",
            late,
            lambda one: [] if one.statements_per_tick is None else [one.statements_per_tick],
            most=STATEMENTS_PER_TICK,
            unit="",
            share=0.5,
        ),
        _at_most(
            "a read of the api, p95",
            late,
            lambda one: one.api_seconds,
            most=API_SECONDS,
            share=0.95,
        ),
        _failed_reports(late),
        _none("reads that failed", tuple(chain.from_iterable(one.failed_reads for one in late))),
        _none("submits and orders that failed", beside.refused),
        _none("contradictions in the database", beside.contradictions),
        _none("processes that were started again", beside.restarts),
        Verdict(
            what="steps of the real jobs",
            seen=" and ".join(map(str, beside.real_steps)) or "none",
            bound="more than 0 each",
            holds=all(beside.real_steps),
        ),
    ]


def _memory(late: Sequence[Sample]) -> Iterator[Verdict]:
    """Hold the last quarter against the third."""
    third, last = late[: len(late) // 2], late[len(late) // 2 :]
    for name in late[-1].memory_mib if third else ():
        before = median(one.memory_mib.get(name, 0.0) for one in third)
        after = median(one.memory_mib.get(name, 0.0) for one in last)
        most = before * (1 + MEMORY_GROWTH) + MEMORY_SLACK_MIB
        yield Verdict(
            what=f"memory of {name}",
            seen=f"{significant(before)} → {significant(after)} MiB",
            bound=f"at most {significant(most)}",
            holds=after <= most,
        )


def _at_most(
    what: str,
    late: Sequence[Sample],
    values: Callable[[Sample], Sequence[float]],
    *,
    most: float,
    unit: str = "s",
    share: float = 1.0,
) -> Verdict:
    seen = percentile(list(chain.from_iterable(map(values, late))), share)
    value = "nothing seen" if seen is None else f"{significant(seen)} {unit}".strip()
    return Verdict(
        what=what,
        seen=value,
        bound=f"at most {significant(most)} {unit}".strip(),
        holds=seen is not None and seen <= most,
    )


def _failed_reports(late: Sequence[Sample]) -> Verdict:
    failures: Counter[str] = Counter()
    for one in late:
        failures.update(one.failures)
    failed = failures.total()
    answered = sum(len(one.report_seconds) for one in late)
    share = failed / max(answered + failed, 1)
    return Verdict(
        what="reports that failed",
        seen=", ".join((f"{100 * share:.1f} %", *_commonest(failures))),
        bound=f"at most {100 * FAILED_REPORTS:.0f} %",
        holds=answered > 0 and share <= FAILED_REPORTS,
    )


def _commonest(failures: Counter[str]) -> Iterator[str]:
    for said, count in failures.most_common(1):
        yield f"most of them, {count}: {said}"


def _none(what: str, found: Sequence[str]) -> Verdict:
    seen = f"{len(found)}, such as {found[0]!r}" if found else "0"
    return Verdict(what=what, seen=seen, bound="none", holds=not found)
