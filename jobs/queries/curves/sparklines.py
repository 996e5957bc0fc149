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
from jobs.queries.curves import of_many

COLUMNS: Final = ("values", *of_many.COLUMNS)  # read of each job
_SPARKLINES: Final = f"""
    {of_many.every('"values" -> metric AS value')},
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
    return min(names, key=rank_of, default="")


def rank_of(name: str) -> tuple[bool, bool, str]:
    """Return by what metrics are ordered: the loss first, then others of that name."""
    return name != "loss", not name.endswith("loss"), name


def _courses(
    jobs: Sequence[Job], metrics: Mapping[str, str], *, points: int, now: datetime
) -> dict[str, list[float]]:
    with connection.cursor() as cursor:
        cursor.execute(_SPARKLINES, of_many.parameters(jobs, metrics, points=points, now=now))
        return dict(cursor.fetchall())
