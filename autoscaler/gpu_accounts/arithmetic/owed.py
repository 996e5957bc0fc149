"""Was a team given what it was owed? At one moment, and added up over a time.

It is owed its guarantee as far as it has work for it: what its jobs hold, and beyond that each of
its waiting jobs, in the order in which they come, that with its fewest workers still fits into the
guarantee. What it is owed and does not hold is its shortfall, and each waiting job's part of it has
one cause. So the parts always add up to the shortfall, and none is negative.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from autoscaler.gpu_accounts.arithmetic.history import Microseconds

MOST_JOBS: Final = 20  # named for each cause at one moment; kept for long, and anybody submits jobs


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingJob:
    """A job that waits for GPUs, and why; `gpus` is what its fewest workers need."""

    job: str
    gpus: int
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """What one cause kept from a team, and the first of the jobs concerned."""

    gpus: int
    jobs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwedGpus:
    """What a team was owed at a moment; `missing`, by cause, is what of it was not given."""

    gpus: int
    missing: Mapping[str, Missing] = field(default_factory=dict)

    @property
    def missing_gpus(self) -> int:
        return sum(one.gpus for one in self.missing.values())


def owed(guaranteed: int, held: int, waiting: Iterable[WaitingJob]) -> OwedGpus:
    """Return what a team is owed; `waiting` are its jobs in the order in which they come."""
    room = max(guaranteed - held, 0)
    gpus: Counter[str] = Counter()
    jobs: dict[str, list[str]] = {}
    for one in waiting:
        if 0 < one.gpus <= room:
            room -= one.gpus
            gpus[one.cause] += one.gpus
            jobs.setdefault(one.cause, []).append(one.job)
    missing = {
        cause: Missing(gpus=gpus[cause], jobs=tuple(jobs[cause][:MOST_JOBS]))
        for cause in sorted(gpus)
    }
    return OwedGpus(gpus=min(held, guaranteed) + gpus.total(), missing=missing)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwedStretch:
    """A time in which a team had work for its guarantee, and what of it was missing, by cause."""

    since: Microseconds
    until: Microseconds
    missing_gpus: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class OwedTime:
    """A time added up: for how long a team had work, was given all, and what was missing."""

    working: Microseconds = 0
    given: Microseconds = 0  # of it, in which nothing was missing
    missing: Counter[str] = field(default_factory=Counter)  # microseconds of GPUs, by cause


def owed_time(
    spans: Iterable[OwedStretch], *, since: Microseconds, until: Microseconds
) -> OwedTime:
    """Add up what lies between `since` and `until`; spans of one team and pool never overlap."""
    found = OwedTime()
    for span in spans:
        length = min(span.until, until) - max(span.since, since)
        if length <= 0:
            continue
        found.working += length
        if not span.missing_gpus:
            found.given += length
        for cause, gpus in span.missing_gpus.items():
            found.missing[cause] += gpus * length
    return found
