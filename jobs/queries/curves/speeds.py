"""How fast did a job train in each of its generations, as its workers reported?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.db import connection

from jobs.models import Generation, Job
from jobs.models.metric_point import TIERS

_FEWEST_POINTS: Final = 3  # guessed: the first report of a generation still contains its start

_SPEEDS: Final = """
    WITH seen AS (
        SELECT generation, points, first_at, at, first_samples, samples FROM jobs_metricrollup
        WHERE job_id = %(job)s AND width = %(whole)s
        UNION ALL
        SELECT generation, 1, at, at, samples, samples FROM jobs_metricpoint WHERE job_id = %(job)s
    ),
    ran AS (
        SELECT generation, max(samples) - min(first_samples) AS samples,
            extract(epoch FROM max(at) - min(first_at))::float8 AS seconds
        FROM seen GROUP BY generation HAVING sum(points) >= %(fewest)s
    )
    SELECT generation, samples / seconds FROM ran WHERE seconds > 0 AND samples > 0
"""


def samples_per_second(job: Job) -> Mapping[int, float]:
    """Return by generation: samples over time, between its first and its last report."""
    with connection.cursor() as cursor:
        cursor.execute(_SPEEDS, {"job": job.id, "whole": TIERS[-1].width, "fewest": _FEWEST_POINTS})
        return dict(cursor.fetchall())


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
