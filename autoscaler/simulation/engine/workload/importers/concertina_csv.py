"""Our own format as CSV: one line per job, both ways without loss.

Profiles are named only, so whoever reads a CSV must know them: those of `applications`, unless
others are given. Lists are separated by blanks, an empty cell is nothing.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Final

from autoscaler.planning.snapshot.job_terms import BatchRange, Utility
from autoscaler.planning.snapshot.vocabulary import Preemptibility
from autoscaler.simulation.engine.workload.applications import PROFILES
from autoscaler.simulation.engine.workload.importers.table import rows_of
from autoscaler.simulation.engine.workload.trace import InvalidTraceError, Trace, TraceJob

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from autoscaler.simulation.engine.truth.profiles import Profile
    from autoscaler.simulation.engine.workload.importers.table import TableRow

NEEDS: Final = (("name",), ("submitted_at",), ("profile",), ("samples",))


def to_csv(trace: Trace, *, profiles: Mapping[str, Profile] = PROFILES) -> str:
    """All columns, for every job."""
    for job in trace.jobs:
        if profiles.get(job.profile.name) != job.profile:
            message = f"profile {job.profile.name} of job {job.name} is not known: write JSON"
            raise InvalidTraceError(message)
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=tuple(COLUMNS), lineterminator="\n")
    writer.writeheader()
    for job in trace.jobs:
        writer.writerow({name: write(job) for name, write in COLUMNS.items()})
    return out.getvalue()


def from_csv(
    text: str, *, name: str = "trace", profiles: Mapping[str, Profile] = PROFILES
) -> Trace:
    rows = rows_of(text, needs=NEEDS, knows=COLUMNS)
    return Trace(name=name, jobs=tuple(_read(row, profiles) for row in rows))


COLUMNS: Final[Mapping[str, Callable[[TraceJob], str]]] = {
    "name": lambda job: job.name,
    "team": lambda job: job.team,
    "pool": lambda job: job.pool,
    "submitted_at": lambda job: repr(job.submitted_at),
    "profile": lambda job: job.profile.name,
    "samples": lambda job: repr(job.samples),
    "declared_samples": lambda job: _or_empty(job.declared_samples),
    "min_workers": lambda job: str(job.min_workers),
    "max_workers": lambda job: str(job.max_workers),
    "allowed_workers": lambda job: " ".join(map(str, job.allowed_workers or ())),
    "worker_step": lambda job: str(job.worker_step),
    "gpus_per_worker": lambda job: str(job.gpus_per_worker),
    "requested_workers": lambda job: _or_empty(job.requested_workers),
    "batch_base": lambda job: str(job.batch.base),
    "batch_min": lambda job: str(job.batch.minimum),
    "batch_max": lambda job: str(job.batch.maximum),
    "batch_multiple_of": lambda job: str(job.batch.multiple_of),
    "batch_max_per_gpu": lambda job: _or_empty(job.batch.max_per_gpu),
    "accumulation": lambda job: "yes" if job.batch.accumulation else "no",
    "priority": lambda job: str(job.priority),
    "preemptibility": lambda job: job.preemptibility.value,
    "deadline": lambda job: _or_empty(job.deadline),
    "min_interval_seconds": lambda job: repr(job.min_interval_seconds),
    "utility": lambda job: _points(job.utility),
    "user": lambda job: job.user,
}


def _points(utility: Utility | None) -> str:
    return " ".join(f"{at!r}:{dollars!r}" for at, dollars in (utility.points if utility else ()))


def _or_empty(value: float | None) -> str:
    return "" if value is None else repr(value)


def _read(row: TableRow, profiles: Mapping[str, Profile]) -> TraceJob:
    kind = row.required("profile")
    profile = profiles.get(kind)
    if profile is None:
        raise row.wrong("profile", kind, f"one of {', '.join(sorted(profiles))}")
    allowed = row.text("allowed_workers")
    least = row.count_of("min_workers") if row.text("min_workers") else 1
    return TraceJob(
        name=row.required("name"),
        team=row.text("team") or "everybody",
        pool=row.text("pool") or "default",
        submitted_at=row.number_of("submitted_at"),
        profile=profile,
        samples=row.number_of("samples"),
        batch=_read_batch(row, profile.batch),
        declared_samples=_optional_count(row, "declared_samples"),
        min_workers=least,
        max_workers=row.count_of("max_workers") if row.text("max_workers") else least,
        allowed_workers=tuple(_counts(row, allowed)) if allowed else None,
        worker_step=_optional_count(row, "worker_step") or 1,
        gpus_per_worker=_optional_count(row, "gpus_per_worker") or 1,
        priority=row.count_of("priority", at_least=0) if row.text("priority") else 50,
        preemptibility=_preemptibility(row),
        deadline=row.number_of("deadline") if row.text("deadline") else None,
        requested_workers=_optional_count(row, "requested_workers"),
        utility=_utility(row),
        min_interval_seconds=(
            row.number_of("min_interval_seconds") if row.text("min_interval_seconds") else 0.0
        ),
        user=row.text("user") or "",
    )


def _read_batch(row: TableRow, usual: BatchRange) -> BatchRange:
    """The job's own range, or all of its profile's if the row names no base batch."""
    if row.text("batch_base") is None:
        return usual
    base = row.count_of("batch_base")
    accumulation = (row.text("accumulation") or "yes").lower()
    if accumulation not in {"yes", "no"}:
        raise row.wrong("accumulation", accumulation, "yes or no")
    return BatchRange(
        base=base,
        minimum=_optional_count(row, "batch_min") or base,
        maximum=_optional_count(row, "batch_max") or base,
        multiple_of=_optional_count(row, "batch_multiple_of") or 1,
        max_per_gpu=_optional_count(row, "batch_max_per_gpu"),
        accumulation=accumulation == "yes",
    )


def _optional_count(row: TableRow, column: str) -> int | None:
    return row.count_of(column) if row.text(column) else None


def _counts(row: TableRow, text: str) -> list[int]:
    try:
        return [int(word) for word in text.split()]
    except ValueError:
        raise row.wrong("allowed_workers", text, "whole numbers like 1 2 4") from None


def _preemptibility(row: TableRow) -> Preemptibility:
    text = row.text("preemptibility") or Preemptibility.PREEMPTIBLE.value
    try:
        return Preemptibility(text)
    except ValueError:
        known = ", ".join(kind.value for kind in Preemptibility)
        raise row.wrong("preemptibility", text, f"one of {known}") from None


def _utility(row: TableRow) -> Utility | None:
    text = row.text("utility")
    if text is None:
        return None
    try:
        pairs = [tuple(map(float, point.split(":"))) for point in text.split()]
        return Utility(points=tuple((seconds, dollars) for seconds, dollars in pairs))
    except ValueError:
        raise row.wrong("utility", text, "points like 0:100 3600:0") from None
