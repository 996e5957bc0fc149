"""How does each of many jobs go, in a few dozen numbers that fit into a line of a list?

All jobs are asked about in one statement: a list of a hundred jobs would else take a hundred.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import connection
from django.utils import timezone

from jobs.models import Job
from jobs.queries.curves.points import width_for
from jobs.queries.curves.stored import segments

COLUMNS: Final = ("values", "started_at", "submitted_at", "finished_at")  # read of each job
_STRETCH: Final = """CASE WHEN asked.width = 0 THEN step
    ELSE floor(extract(epoch FROM at) / nullif(asked.width, 0)) END"""
_SPARKLINES: Final = f"""
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
        SELECT DISTINCT ON (job, generation, {_STRETCH})
            job, at, generation, step, "values" -> metric AS value
        FROM asked JOIN jobs_metricpoint ON job_id = job
        ORDER BY job, generation, {_STRETCH}, step DESC
    ),
    every AS (
        SELECT job, at, generation, step, "values" -> metric AS value
        FROM asked JOIN tier ON asked_width = asked.width
        JOIN jobs_metricrollup known
            ON job_id = job AND known.width = tier.width AND bucket >= since AND bucket < until
        UNION ALL SELECT * FROM raw
    ),
    placed AS (
        SELECT *, count(*) OVER (PARTITION BY job) AS total,
            row_number() OVER (PARTITION BY job ORDER BY at, generation, step) AS place
        FROM every WHERE jsonb_typeof(value) = 'number'
    )
    SELECT job, array_agg(value::float8 ORDER BY place) FROM placed
    WHERE total <= %(points)s OR place * %(points)s %% total < %(points)s
    GROUP BY job
"""  # noqa: S608 - constants


@dataclass(frozen=True, slots=True, kw_only=True)
class Sparkline:
    """The course of a job's main metric; empty if it logs none."""

    job_id: str
    metric: str
    values: Sequence[float]


def sparklines_of(jobs: Sequence[Job], *, points: int) -> list[Sparkline]:
    """Return one for each job, of at most so many points, thinned as `curve_of` does."""
    now = timezone.now()
    metrics = {job.id: main_metric(job.values) for job in jobs}
    drawn = [job for job in jobs if metrics[job.id]]
    courses = _courses(drawn, metrics, points=points, now=now) if drawn else {}
    return [
        Sparkline(job_id=job.id, metric=metrics[job.id], values=courses.get(job.id, ()))
        for job in jobs
    ]


def main_metric(values: Mapping[str, Any]) -> str:
    """Return the loss of a job that calls it so, else another loss, else what comes first by name.

    Empty if it logged no number.
    """
    names = (name for name, value in values.items() if type(value) in {int, float})
    return min(names, key=_rank, default="")


def _rank(name: str) -> tuple[bool, bool, str]:
    return name != "loss", not name.endswith("loss"), name


def _courses(
    jobs: Sequence[Job], metrics: Mapping[str, str], *, points: int, now: datetime
) -> dict[str, list[float]]:
    widths = [_width(job, points, now) for job in jobs]
    tiers = [(width, *segment) for width in sorted({*widths}) for segment in segments(width, now)]
    bound: dict[str, Any] = {
        "jobs": [job.id for job in jobs],
        "metrics": [metrics[job.id] for job in jobs],
        "widths": widths,
        "asked_widths": [width for width, _, _, _ in tiers],
        "tier_widths": [tier.width for _, tier, _, _ in tiers],
        "since": [since for _, _, since, _ in tiers],
        "until": [until for _, _, _, until in tiers],
        "points": points,
    }
    with connection.cursor() as cursor:
        cursor.execute(_SPARKLINES, bound)
        return dict(cursor.fetchall())


def _width(job: Job, points: int, now: datetime) -> int:
    began = job.started_at or job.submitted_at
    return width_for(((job.finished_at or now) - began).total_seconds(), points)
