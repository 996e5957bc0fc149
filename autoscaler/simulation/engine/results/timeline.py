"""How did a simulation go over time? Curves with few points, made of many samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autoscaler.simulation.engine.results.records import (
        JobRecord,
        SimulationResult,
        UsageSample,
    )

Curve = tuple[tuple[float, float], ...]


def mean_levels(
    result: SimulationResult, measure: Callable[[UsageSample], float], *, until: float, bins: int
) -> Curve:
    """The mean of a measure over all pools in equal stretches of time: (middle, mean)."""
    width = (until - result.started_at) / bins
    if width <= 0:
        return ()
    totals = [0.0] * bins
    by_pool: dict[str, list[UsageSample]] = {}
    for sample in result.usage:
        by_pool.setdefault(sample.pool, []).append(sample)
    for samples in by_pool.values():
        ends = [sample.time for sample in samples[1:]] + [result.ended_at]
        for sample, end in zip(samples, ends, strict=True):
            level = measure(sample)
            _spread(totals, level, sample.time - result.started_at, end - result.started_at, width)
    return tuple(
        (result.started_at + (number + 0.5) * width, total / width)
        for number, total in enumerate(totals)
    )


def completion_curve(jobs: Sequence[JobRecord], *, points: int) -> Curve:
    """(seconds, share of all submitted jobs that finished within them), thinned out evenly."""
    taken = sorted(seconds for job in jobs if (seconds := job.completion_seconds) is not None)
    curve = [(seconds, rank / len(jobs)) for rank, seconds in enumerate(taken, start=1)]
    stride = max(math.ceil(len(curve) / points), 1)
    thinned = curve[::stride]
    return tuple(thinned + curve[-1:] if curve and thinned[-1] != curve[-1] else thinned)


def queue_levels(jobs: Sequence[JobRecord], *, started_at: float, until: float, bins: int) -> Curve:
    """The mean number of jobs that were submitted and have not started yet."""
    width = (until - started_at) / bins
    if width <= 0:
        return ()
    totals = [0.0] * bins
    for job in jobs:
        ends = (job.first_started_at, job.dropped_at, until)
        end = next(end for end in ends if end is not None)
        _spread(totals, 1.0, job.submitted_at - started_at, end - started_at, width)
    return tuple(
        (started_at + (number + 0.5) * width, total / width) for number, total in enumerate(totals)
    )


def spans(job: JobRecord, *, until: float) -> tuple[tuple[float, float, int], ...]:
    """(from, to, workers) of each stretch of a job's life in which it held workers."""
    end = job.finished_at if job.finished_at is not None else until
    edges = [*job.history, None]
    return tuple(
        (span.since, following.since if following else end, span.workers)
        for span, following in pairwise(edges)
        if span is not None and span.workers
    )


def _spread(totals: list[float], level: float, start: float, end: float, width: float) -> None:
    """Add level x seconds of a stretch to the bins it lies in."""
    first = max(int(start // width), 0)
    for number in range(first, min(int(end // width) + 1, len(totals))):
        inside = min(end, (number + 1) * width) - max(start, number * width)
        totals[number] += level * max(inside, 0.0)
