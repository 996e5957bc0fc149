"""How are reported points of progress stored? In two statements."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from django.db.models import F

from concertina_worker.protocol import MOST_METRICS
from jobs.commands.observations.service_time import ServiceTime
from jobs.models import Job, MetricPoint
from jobs.reports.sync_report import MetricEntry

_POINTS_A_SECOND: Final = 2  # of the job's life; a coordinator reports one

_Point = tuple[int, int]  # generation, step


def store_metrics(job: Job, reported: Sequence[MetricEntry], time: ServiceTime) -> dict[str, Any]:
    """Add the points; a point reported again for the same step has more values than before.

    A job may have as many points as it can have made in its life; of too many, the newest are kept.
    Returns the changed columns of the job.
    """
    if not reported:
        return {}
    newest = {(entry.generation, entry.step): entry for entry in reported}
    fresh = newest.keys() - _known(job, newest)
    room = max(int(_POINTS_A_SECOND * time.age_seconds) + MOST_METRICS - job.metric_points, 0)
    too_many = set([key for key in newest if key in fresh][: max(len(fresh) - room, 0)])
    kept = [entry for key, entry in newest.items() if key not in too_many]
    MetricPoint.objects.bulk_create(
        [
            MetricPoint(
                job=job, **{**dict(entry), "at": time.moment(entry.at)}, recorded_at=time.now
            )
            for entry in kept
        ],
        update_conflicts=True,
        unique_fields=["job", "generation", "step"],
        update_fields=["at", "values"],
    )
    added = len(fresh) - len(too_many)
    return {"metric_points": F("metric_points") + added} if added else {}


def _known(job: Job, points: Collection[_Point]) -> set[_Point]:
    stored = MetricPoint.objects.filter(
        job=job,
        generation__in={generation for generation, _ in points},
        step__in={step for _, step in points},
    )
    return set(stored.values_list("generation", "step"))
