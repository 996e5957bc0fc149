"""How are reported points of progress stored? With the rest of the reports, in one statement.

The newest of them is also how far the job is: columns of its row.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from concertina_worker.protocol import MOST_METRICS
from jobs.commands.observations.reporting_job import ReportingJob
from jobs.commands.observations.rows.one_statement import StatementPart
from jobs.commands.observations.service_time import ServiceTime
from jobs.models import MetricPoint
from jobs.reports.fields import MOST_VALUES
from jobs.reports.sync_report import MetricEntry

_POINTS_A_SECOND: Final = 2  # of the job's life; a coordinator reports one

_QUERIES: Final = """
    reported_point AS (
        SELECT * FROM jsonb_to_recordset(%(points)s) AS reported (
            job_id text, at timestamptz, generation integer, step bigint, epoch float8,
            samples bigint, samples_per_second float8, step_seconds float8, compute_seconds float8,
            communication_seconds float8, learning_rate float8, "values" jsonb
        )
    ),
    new_point AS (
        SELECT job_id, count(*) AS points FROM reported_point WHERE NOT EXISTS (
            SELECT FROM jobs_metricpoint AS known
            WHERE (known.job_id, known.generation, known.step)
                = (reported_point.job_id, reported_point.generation, reported_point.step)
        ) GROUP BY job_id
    ),
    point AS (
        INSERT INTO jobs_metricpoint AS known (
            job_id, recorded_at, at, generation, step, epoch, samples, samples_per_second,
            step_seconds, compute_seconds, communication_seconds, learning_rate, "values"
        )
        SELECT job_id, %(now)s, at, generation, step, epoch, samples, samples_per_second,
            step_seconds, compute_seconds, communication_seconds, learning_rate, "values"
        FROM reported_point
        ON CONFLICT (job_id, generation, step) DO UPDATE
        SET at = excluded.at, "values" = excluded."values"
        WHERE (known.at, known."values") IS DISTINCT FROM (excluded.at, excluded."values")
    )
"""
_NUMBER: Final = """
    job.metric_points
    + coalesce((SELECT points FROM new_point WHERE new_point.job_id = job.id), 0)
"""
METRICS: Final = StatementPart(name="points", queries=_QUERIES, of_job={"metric_points": _NUMBER})

_Point = tuple[int, int]  # generation, step


def rows_of_metrics(
    job: ReportingJob, reported: Sequence[MetricEntry], time: ServiceTime
) -> list[dict[str, Any]]:
    """Add the points; a point reported again for the same step has more values than before.

    A job may have as many points as it can have made in its life; of too many, the newest are kept.
    """
    newest = {(entry.generation, entry.step): entry for entry in reported}
    room = max(int(_POINTS_A_SECOND * time.age_seconds) + MOST_METRICS - job.metric_points, 0)
    if len(newest) > room:
        known = _known(job, newest)
        fresh = [key for key in newest if key not in known]
        for key in fresh[: max(len(fresh) - room, 0)]:
            del newest[key]
    return [
        {"job_id": job.id, **dict(entry), "at": time.moment(entry.at)} for entry in newest.values()
    ]


def progress_of(job: ReportingJob, metrics: Sequence[MetricEntry], now: datetime) -> dict[str, Any]:
    """Return the newest point, and the newest value of each metric the script logs."""
    newest = max(metrics, key=lambda point: (point.generation, point.step))
    moved = {} if newest.step == job.step else {"progress_at": now}
    return moved | {
        "step": newest.step,
        "epoch": newest.epoch,
        "samples": newest.samples,
        "samples_per_second": newest.samples_per_second,
        "values": _newest_values(job.values, metrics),
    }


def _newest_values(
    stored: Mapping[str, float | None], metrics: Sequence[MetricEntry]
) -> dict[str, float | None]:
    """Return the values just logged, and as many stored ones as a row may hold besides."""
    logged: dict[str, float | None] = {}
    for point in metrics:
        for name, value in point.values.items():
            logged.pop(name, None)  # so that the newest stand last
            logged[name] = value
    fresh = dict(list(logged.items())[-MOST_VALUES:])
    others = [name for name in stored if name not in fresh]
    return {name: stored[name] for name in others[: MOST_VALUES - len(fresh)]} | fresh


def _known(job: ReportingJob, points: Collection[_Point]) -> set[_Point]:
    stored = MetricPoint.objects.filter(
        job=job.id,
        generation__in={generation for generation, _ in points},
        step__in={step for _, step in points},
    )
    return set(stored.values_list("generation", "step"))
