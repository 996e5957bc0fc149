"""How did a job go over time? A bounded number of points, however many it made.

All points of the last hour are there, and older ones in stretches of time, of which the finest are
forgotten first. A chart that spans long takes wide stretches, and so reads little.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from django.db import connection
from django.utils import timezone

from jobs.models import Job
from jobs.models.metric_point import RAW_FOR, TIERS, Tier

_COLUMNS: Final = (
    "generation, at, step, epoch, samples, samples_per_second, step_seconds, compute_seconds,"
    ' communication_seconds, learning_rate, "values"'
)
_POINTS: Final = f"""
    WITH rolled_up AS (
        SELECT {_COLUMNS} FROM jobs_metricrollup known
        JOIN unnest(
            %(widths)s::integer[], %(since)s::timestamptz[], %(until)s::timestamptz[]
        ) AS tier(tier_width, since, until)
            ON known.width = tier.tier_width AND bucket >= tier.since AND bucket < tier.until
        WHERE job_id = %(job)s
    ),
    raw AS (
        SELECT DISTINCT ON (
            generation, CASE WHEN %(width)s = 0 THEN step
                ELSE floor(extract(epoch FROM at) / nullif(%(width)s, 0)) END
        ) {_COLUMNS}
        FROM jobs_metricpoint WHERE job_id = %(job)s
        ORDER BY generation, CASE WHEN %(width)s = 0 THEN step
            ELSE floor(extract(epoch FROM at) / nullif(%(width)s, 0)) END, step DESC
    ),
    placed AS (
        SELECT *, count(*) OVER () AS total,
            row_number() OVER (ORDER BY at, generation, step) AS place
        FROM (SELECT * FROM rolled_up UNION ALL SELECT * FROM raw) every
        WHERE at >= %(from)s AND at <= %(to)s
    )
    SELECT placed.*, ran.workers, ran.global_batch_size
    FROM placed LEFT JOIN jobs_generation ran
        ON ran.job_id = %(job)s AND ran.number = placed.generation
    WHERE total <= %(points)s OR place * %(points)s %% total < %(points)s
    ORDER BY place
"""  # noqa: S608 - names of columns
_EVER: Final = datetime.fromtimestamp(0, tz=UTC)
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
    width = _width((end - start).total_seconds(), points)
    segments = list(_segments(width, now))
    with connection.cursor() as cursor:
        cursor.execute(
            _POINTS,
            {
                "job": job.id,
                "width": width,
                "widths": [tier.width for tier, _, _ in segments],
                "since": [start for _, start, _ in segments],
                "until": [end for _, _, end in segments],
                "from": since or _EVER,
                "to": until or now + RAW_FOR,
                "points": points,
            },
        )
        names = [column.name for column in cursor.description]
        return [_point(names, row) for row in cursor.fetchall()]


def _point(names: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    point = {name: one for name, one in zip(names, row, strict=True) if name not in _LEFT_OUT}
    return point | {"values": json.loads(point["values"])}


def _width(seconds: float, points: int) -> int:
    """Return the widest stretch of which there are enough; 0: points as they came."""
    enough = (tier.width for tier in reversed(TIERS) if seconds / tier.width >= points)
    return next(enough, 0)


def _segments(width: int, now: datetime) -> Iterator[tuple[Tier, datetime, datetime]]:
    """Yield which tier is read from when to when: the finest that is wide enough and still kept."""
    until = now + RAW_FOR
    for tier in TIERS:
        if tier.width >= width:
            begin = _EVER if tier.kept is None else _edge(now - tier.kept)
            yield tier, begin, until
            until = begin


def _edge(moment: datetime) -> datetime:
    """Return the next moment at which stretches of all widths begin."""
    widest = TIERS[-1].width
    return datetime.fromtimestamp(math.ceil(moment.timestamp() / widest) * widest, tz=UTC)
