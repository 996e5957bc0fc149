"""How did a job go over time? A bounded number of points, however many it made.

All points of the last hour are there, and older ones in stretches of time, of which the finest are
forgotten first. A chart that spans long takes wide stretches, and so reads little.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from django.db import connection
from django.utils import timezone

from jobs.models import Job
from jobs.models.metric_point import TIERS
from jobs.queries.curves.stored import EVERY, parameters

_POINTS: Final = f"""
    {EVERY},
    placed AS (
        SELECT *, count(*) OVER () AS total,
            row_number() OVER (ORDER BY at, generation, step) AS place
        FROM every
    )
    SELECT placed.*, ran.workers, ran.global_batch_size
    FROM placed LEFT JOIN jobs_generation ran
        ON ran.job_id = %(job)s AND ran.number = placed.generation
    WHERE total <= %(points)s OR place * %(points)s %% total < %(points)s
    ORDER BY place
"""  # noqa: S608 - names of columns
_LEFT_OUT: Final = {"place", "total"}


def curve_of(
    job: Job,
    *,
    points: int,
    since: datetime | None = None,
    until: datetime | None = None,
) -> list[dict[str, Any]]:
    """Return at most so many points between two moments, evenly thinned, with the newest of them.

    Each comes with the `workers` and `global_batch_size` of its generation. Of N points, number n
    is kept where n·points/N passes a whole number.
    """
    now = timezone.now()
    began = job.started_at or job.submitted_at
    start, end = max(since or began, began), min(until or now, job.finished_at or now)
    width = width_for((end - start).total_seconds(), points)
    bound = parameters(job, width=width, since=since, until=until, now=now)
    with connection.cursor() as cursor:
        cursor.execute(_POINTS, bound | {"points": points})
        names = [column.name for column in cursor.description]
        return [_point(names, row) for row in cursor.fetchall()]


def _point(names: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    point = {name: one for name, one in zip(names, row, strict=True) if name not in _LEFT_OUT}
    return point | {"values": json.loads(point["values"])}


def width_for(seconds: float, points: int) -> int:
    """Return the widest stretch of which there are enough; 0: points as they came."""
    enough = (tier.width for tier in reversed(TIERS) if seconds / tier.width >= points)
    return next(enough, 0)
