"""Which points of many jobs are there? Those that are read of each alone, all in one statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from jobs.models import Job
from jobs.queries.curves.points import width_for
from jobs.queries.curves.stored import segments

_STRETCH: Final = """CASE WHEN asked.width = 0 THEN step
    ELSE floor(extract(epoch FROM at) / nullif(asked.width, 0)) END"""
COLUMNS: Final = ("started_at", "submitted_at", "finished_at")  # read of each job


def every(columns: str) -> str:
    """Return what comes before a SELECT from `every`, which has these columns of each point.

    A metric that was asked for is `metric`. It is asked with `parameters`.
    """
    return f"""
    WITH asked AS (
        SELECT * FROM unnest(%(jobs)s::text[], %(metrics)s::text[], %(widths)s::integer[])
            AS asked(job, metric, width)
    ),
    tier AS (
        SELECT * FROM unnest(
            %(asked_widths)s::integer[], %(tier_widths)s::integer[],
            %(since)s::timestamptz[], %(until)s::timestamptz[]
        ) AS tier(asked_width, width, since, until)
    ),
    raw AS (
        SELECT DISTINCT ON (job, generation, {_STRETCH}) job, at, generation, step, {columns}
        FROM asked JOIN jobs_metricpoint ON job_id = job
        ORDER BY job, generation, {_STRETCH}, step DESC
    ),
    every AS (
        SELECT job, at, generation, step, {columns}
        FROM asked JOIN tier ON asked_width = asked.width
        JOIN jobs_metricrollup known
            ON job_id = job AND known.width = tier.width AND bucket >= since AND bucket < until
        UNION ALL SELECT * FROM raw
    )"""  # noqa: S608 - names of columns


def parameters(
    jobs: Sequence[Job], metrics: Mapping[str, str], *, points: int, now: datetime
) -> dict[str, Any]:
    """Return what `every` is asked with, for at most so many points of each job."""
    widths = [_width(job, points, now) for job in jobs]
    tiers = [(width, *segment) for width in sorted({*widths}) for segment in segments(width, now)]
    return {
        "jobs": [job.id for job in jobs],
        "metrics": [metrics[job.id] for job in jobs],
        "widths": widths,
        "asked_widths": [width for width, _, _, _ in tiers],
        "tier_widths": [tier.width for _, tier, _, _ in tiers],
        "since": [since for _, _, since, _ in tiers],
        "until": [until for _, _, _, until in tiers],
        "points": points,
    }


def _width(job: Job, points: int, now: datetime) -> int:
    began = job.started_at or job.submitted_at
    return width_for(((job.finished_at or now) - began).total_seconds(), points)
