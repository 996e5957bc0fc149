"""How fast did a job train in each of its generations, as its workers reported?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.db.models import Count, Max, Min

from jobs.models import Generation, Job, MetricPoint

_FEWEST_POINTS: Final = 3  # guessed: the first report of a generation still contains its start


def samples_per_second(job: Job) -> Mapping[int, float]:
    """Return by generation: samples over time, between its first and its last report."""
    rows = (
        MetricPoint.objects.filter(job=job)
        .values("generation")
        .annotate(
            points=Count("id"),
            samples=Max("samples") - Min("samples"),
            took=Max("at") - Min("at"),
        )
        .filter(points__gte=_FEWEST_POINTS)
        .order_by()
    )
    return {
        row["generation"]: row["samples"] / row["took"].total_seconds()
        for row in rows
        if row["took"].total_seconds() > 0 and row["samples"] > 0
    }


def measured_gain(
    speeds: Mapping[int, float], before: Generation | None, after: Generation
) -> float | None:
    """Return how much faster it trained than the one before: 0.31 for 31 %; None if not known.

    Speeds before and after a failure are not compared: the job repeats parts of its work.
    """
    if before is None or before.attempt != after.attempt:
        return None
    if before.number not in speeds or after.number not in speeds:
        return None
    return speeds[after.number] / speeds[before.number] - 1
