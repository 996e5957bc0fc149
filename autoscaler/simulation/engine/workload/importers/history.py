"""What did our own cluster see? A trace from what is stored of jobs that came and went.

The rows are plain values, so that whoever reads the database stays outside. A job's true speed is
the model fitted to all of its measurements; one that was never measured cannot be replayed and is
left out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autoscaler.planning.snapshot.job_terms import JobTerms, terms_of
from autoscaler.simulation.engine.truth.profiles import Profile
from autoscaler.simulation.engine.workload.trace import Trace, TraceJob

if TYPE_CHECKING:
    from collections.abc import Iterable

    from autoscaler.planning.speed.scaling import ScalingModel


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRow(JobTerms):
    """One job of the past. Times are seconds on any clock; `samples` is the work it did."""

    samples: float
    scaling: ScalingModel | None
    declared_samples: int | None = None
    noise_scale: float | None = None  # the last one reported
    stall_seconds: float = 30.0  # of a restart of its own
    model_bytes: int = 0


def trace_of_history(rows: Iterable[HistoryRow], *, name: str = "history") -> Trace:
    """Time 0 is the first submission. Names that come again are numbered: resnet, resnet#2."""
    kept = sorted(
        (row for row in rows if row.scaling is not None and row.samples > 0),
        key=lambda row: (row.submitted_at, row.name),
    )
    start = kept[0].submitted_at if kept else 0.0
    seen = Counter[str]()
    jobs = []
    for row in kept:
        seen[row.name] += 1
        unique = row.name if seen[row.name] == 1 else f"{row.name}#{seen[row.name]}"
        jobs.append(_job(row, unique, start))
    return Trace(name=name, jobs=tuple(jobs))


def _job(row: HistoryRow, name: str, start: float) -> TraceJob:
    terms = terms_of(row) | {
        "name": name,
        "submitted_at": row.submitted_at - start,
        "deadline": None if row.deadline is None else row.deadline - start,
    }
    return TraceJob(
        **terms,
        profile=_profile(row, name),
        samples=row.samples,
        declared_samples=row.declared_samples,
    )


def _profile(row: HistoryRow, name: str) -> Profile:
    if row.scaling is None:
        raise ValueError(f"job {name} was never measured")
    return Profile(
        name=name,
        model=row.scaling.throughput,
        batch=row.batch,
        samples=row.samples,
        noise=() if row.noise_scale is None else ((0.0, row.noise_scale),),
        model_bytes=row.model_bytes,
        restart_seconds=row.stall_seconds,
    )
