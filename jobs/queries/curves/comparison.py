"""How do a few jobs compare? One curve of each, over whatever one likes, all in one statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from django.db import connection
from django.utils import timezone

from jobs.models import Job
from jobs.queries.curves import of_many
from jobs.queries.curves.sparklines import rank_of
from jobs.spec import stored_spec


class CurveMeasure(StrEnum):
    """What is measured of every script that trains by steps, whatever it logs."""

    SAMPLES_PER_SECOND = "samples_per_second"
    STEP_SECONDS = "step_seconds"
    LEARNING_RATE = "learning_rate"


_LOGGED: Final = """CASE WHEN jsonb_typeof("values" -> metric) = 'number'
    THEN ("values" ->> metric)::float8 END"""
_CURVES: Final = """
    {every},
    ran AS (
        SELECT job_id, number, began_at, workers, coalesce(sum(
            workers * extract(epoch FROM coalesce(ended_at, now()) - began_at)
        ) OVER (
            PARTITION BY job_id ORDER BY number ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ), 0) AS before
        FROM jobs_generation WHERE job_id = ANY(%(jobs)s)
    ),
    placed AS (
        SELECT *, count(*) OVER (PARTITION BY job) AS total,
            row_number() OVER (PARTITION BY job ORDER BY at, generation, step) AS place,
            min(value) OVER (PARTITION BY job) AS lowest,
            max(value) OVER (PARTITION BY job) AS highest
        FROM every WHERE value IS NOT NULL
    )
    SELECT job, lowest, highest, at, step, samples, value,
        (before + workers * greatest(extract(epoch FROM at - began_at), 0))::float8
    FROM placed LEFT JOIN ran ON job_id = job AND number = generation
    WHERE total <= %(points)s OR place * %(points)s %% total < %(points)s
    ORDER BY job, place
"""


@dataclass(slots=True)
class ComparedCurve:
    """One column for each thing that a curve can be drawn over, oldest first."""

    lowest: float | None
    highest: float | None
    seconds: list[float]
    steps: list[int]
    samples: list[int]
    gpu_hours: list[float | None]
    values: list[float]

    @classmethod
    def empty(cls) -> ComparedCurve:
        return cls(None, None, [], [], [], [], [])


def metrics_of(jobs: Sequence[Job]) -> list[str]:
    """Return what these jobs log as numbers, losses first, then by name."""
    names = {
        name for job in jobs for name, value in job.values.items() if type(value) in {int, float}
    }
    return sorted(names, key=rank_of)


def curves_of(
    jobs: Sequence[Job], *, metric: str, measure: CurveMeasure | None, points: int
) -> dict[str, ComparedCurve]:
    """Return a curve for each job that has one, of at most so many points, by its id.

    It is of the metric, or of the measure if there is one. Seconds count from the job's start, and
    GPU-hours while it trained; these are None where its history is gone.
    """
    bound = of_many.parameters(
        jobs, dict.fromkeys((job.id for job in jobs), metric), points=points, now=timezone.now()
    )
    value = f"{_LOGGED if measure is None else measure.value} AS value"
    asked = _CURVES.format(every=of_many.every(f"samples, {value}"))
    by_id = {job.id: job for job in jobs}
    gpus = {job.id: _gpus_per_worker(job) for job in jobs}
    curves: dict[str, ComparedCurve] = {}
    with connection.cursor() as cursor:
        cursor.execute(asked, bound)
        for job_id, lowest, highest, *point in cursor.fetchall():
            curve = curves.setdefault(job_id, ComparedCurve.empty())
            curve.lowest, curve.highest = lowest, highest
            _add(curve, by_id[job_id], gpus[job_id], point)
    return curves


def _gpus_per_worker(job: Job) -> int:
    return stored_spec.read(job.resolved_spec).spec.resources.gpus_per_worker


def _add(curve: ComparedCurve, job: Job, gpus: int, point: Sequence[Any]) -> None:
    at, step, samples, value, worker_seconds = point
    began = job.started_at or job.submitted_at
    curve.seconds.append(max((at - began).total_seconds(), 0.0))
    curve.steps.append(step)
    curve.samples.append(samples)
    curve.gpu_hours.append(None if worker_seconds is None else worker_seconds * gpus / 3600)
    curve.values.append(value)
