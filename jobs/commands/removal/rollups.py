"""How do the points of curves become fewer as they get old? They are rolled up, and then dropped.

    all points        an hour
    one for 10 s      a day
    one for a minute  a week
    one for 10 min    as long as the job's curves; in the job's first hour one for a minute

A point is moved: the statement that deletes it writes what becomes of it, so none is lost or
counted twice whenever this stops. Of a live job the newest point stays, by which late reports are
known. Partitions are made by whoever needs one, and dropped as a whole when all in them is old.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Final

from django.db import OperationalError, connection, transaction

from jobs.lifecycle import FINAL
from jobs.models.metric_point import FINEST_OF_ALL, FIRST, RAW_FOR, TIERS, Tier

POINTS_AT_ONCE: Final = 5_000  # of a job, in one statement
logger: Final = logging.getLogger(__name__)

_JOBS_WITH_POINTS: Final = """
    WITH RECURSIVE of_job AS (
        (SELECT job_id FROM jobs_metricpoint ORDER BY job_id LIMIT 1)
        UNION ALL
        SELECT (
            SELECT later.job_id FROM jobs_metricpoint later
            WHERE later.job_id > of_job.job_id ORDER BY later.job_id LIMIT 1
        ) FROM of_job WHERE of_job.job_id IS NOT NULL
    )
    SELECT job_id FROM of_job WHERE job_id IS NOT NULL
"""
_OLD: Final = """
    SELECT point.id, point.at FROM jobs_metricpoint point JOIN jobs_job job ON job.id = point.job_id
    WHERE point.job_id = %(job)s AND point.at < %(before)s AND (
        job.state = ANY(%(final)s) OR (point.generation, point.step) <> (
            SELECT newest.generation, newest.step FROM jobs_metricpoint newest
            WHERE newest.job_id = %(job)s
            ORDER BY newest.generation DESC, newest.step DESC LIMIT 1
        )
    )
    ORDER BY point.generation, point.step LIMIT %(most)s
"""
_MOVE: Final = """
    WITH job AS (
        SELECT id, coalesce(started_at, submitted_at) AS began FROM jobs_job
        WHERE id = %(job)s FOR KEY SHARE
    ),
    gone AS (
        DELETE FROM jobs_metricpoint point USING job
        WHERE point.job_id = job.id AND point.id = ANY(%(points)s)
        RETURNING point.*, job.began
    ),
    placed AS (
        SELECT gone.*, tier.width, to_timestamp(floor(extract(epoch FROM at) / narrow) * narrow)
            AS bucket
        FROM gone JOIN unnest(%(widths)s::integer[], %(since)s::timestamptz[]) AS tier(width, since)
            ON gone.at >= tier.since
        CROSS JOIN LATERAL (
            SELECT CASE WHEN gone.at < gone.began + make_interval(secs => %(first)s)
                THEN least(tier.width, %(finest)s) ELSE tier.width END
        ) AS stretch(narrow)
    ),
    last AS (
        SELECT DISTINCT ON (width, generation, bucket) width, generation, bucket, at, step, epoch,
            samples, learning_rate, "values"
        FROM placed ORDER BY width, generation, bucket, step DESC
    ),
    whole AS (
        SELECT width, generation, bucket, count(*) AS points, min(at) AS first_at,
            min(samples) AS first_samples, avg(samples_per_second) AS samples_per_second,
            avg(step_seconds) AS step_seconds, avg(compute_seconds) AS compute_seconds,
            avg(communication_seconds) AS communication_seconds
        FROM placed GROUP BY width, generation, bucket
    )
    INSERT INTO jobs_metricrollup AS known (
        job_id, generation, bucket, width, points, first_at, first_samples, at, step, epoch,
        samples, learning_rate, "values", samples_per_second, step_seconds, compute_seconds,
        communication_seconds
    )
    SELECT %(job)s, generation, bucket, width, points, first_at, first_samples, at, step, epoch,
        samples, learning_rate, "values", samples_per_second, step_seconds, compute_seconds,
        communication_seconds
    FROM whole JOIN last USING (width, generation, bucket)
    ON CONFLICT (job_id, generation, bucket, width) DO UPDATE SET
        points = known.points + excluded.points,
        first_at = least(known.first_at, excluded.first_at),
        first_samples = least(known.first_samples, excluded.first_samples),
        (at, step, epoch, samples, learning_rate, "values") = (
            SELECT one.at, one.step, one.epoch, one.samples, one.learning_rate, one.values FROM (
                VALUES (known.at, known.step, known.epoch, known.samples, known.learning_rate,
                    known."values"), (excluded.at, excluded.step, excluded.epoch,
                    excluded.samples, excluded.learning_rate, excluded."values")
            ) AS one(at, step, epoch, samples, learning_rate, "values")
            ORDER BY one.step DESC LIMIT 1
        ),
"""
_MEANS: Final = ("samples_per_second", "step_seconds", "compute_seconds", "communication_seconds")
_MERGED: Final = ", ".join(
    f"{name} = (known.{name} * known.points + excluded.{name} * excluded.points)"
    " / (known.points + excluded.points)"
    for name in _MEANS
)


def roll_up(now: datetime, has_time: Callable[[], bool]) -> int:
    """Move old points, job by job; return how many. The next run goes on."""
    moved = 0
    try:
        for job_id in _jobs_with_points():
            last = POINTS_AT_ONCE
            while last == POINTS_AT_ONCE and has_time():
                last = _move(job_id, now)
                moved += last
    except OperationalError as problem:  # a lock was not to be had: points stay until the next run
        logger.warning("Points stay as they are: %s", problem, extra={"action": "retention"})
    return moved


def drop_old(now: datetime) -> int:
    """Drop partitions in which all is old; return how many. One in use waits for the next run."""
    dropped = 0
    for tier in TIERS:
        if tier.kept is None:
            continue
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(
                    "SELECT jobs_drop_rollup_partitions(%s, %s, %s)",
                    [tier.width, _seconds(tier.span), now - tier.kept],
                )
                dropped += int(cursor.fetchone()[0])
        except OperationalError:
            continue
    return dropped


def make_ahead(now: datetime) -> None:
    """Make the partitions of today and of tomorrow, so that hardly anybody else has to."""
    for ahead in (timedelta(), timedelta(days=1)):
        _make_partitions([now + ahead])


def _jobs_with_points() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(_JOBS_WITH_POINTS)
        return [job_id for (job_id,) in cursor.fetchall()]


@transaction.atomic
def _move(job_id: str, now: datetime) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            _OLD,
            {
                "job": job_id,
                "before": now - RAW_FOR,
                "final": sorted(FINAL),
                "most": POINTS_AT_ONCE,
            },
        )
        found = cursor.fetchall()
        if not found:
            return 0
        since = {
            tier: now - tier.kept if tier.kept else min(at for _, at in found) for tier in TIERS
        }
        for tier, start in since.items():
            _make_partitions([at for _, at in found if at >= start], [tier])
        cursor.execute(
            _MOVE + _MERGED,
            {
                "job": job_id,
                "points": [point for point, _ in found],
                "widths": [tier.width for tier in since],
                "since": list(since.values()),
                "first": FIRST.total_seconds(),
                "finest": FINEST_OF_ALL,
            },
        )
    return len(found)


def _make_partitions(moments: list[datetime], tiers: tuple[Tier, ...] | list[Tier] = TIERS) -> None:
    with connection.cursor() as cursor:
        for tier in tiers:
            for moment in _starts(moments, tier.span):
                cursor.execute(
                    "SELECT jobs_make_rollup_partition(%s, %s, %s)",
                    [tier.width, _seconds(tier.span), moment],
                )


def _starts(moments: list[datetime], span: timedelta) -> Iterator[datetime]:
    """Yield one moment of each span that has any."""
    by_span = {int(moment.timestamp()) // _seconds(span): moment for moment in moments}
    yield from by_span.values()


def _seconds(span: timedelta) -> int:
    return int(span.total_seconds())
