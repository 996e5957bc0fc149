"""What is kept of what workers take of their nodes? Points, which become fewer as they get old.

    all points (one in 10 s)    an hour
    one for each minute         a day
    one for each ten minutes    as long as the job's curves

A point is moved: the statement that deletes it writes what becomes of it, so none is lost or
counted twice whenever this stops. All jobs are written, and moved, by the same few statements.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from django.db import connection

from jobs.lifecycle import JobState
from jobs.models.measured.usage_point import MINUTES_FOR, RAW_FOR

MOVED_AT_ONCE: Final = 20_000  # points, in one statement

_INSERT: Final = """
    INSERT INTO jobs_usagepoint (
        job_id, width, at, worker_id, points, cpu_cores, memory_bytes, gpu_utilisation,
        gpu_memory_bytes, gpu_power_watts
    )
    SELECT job.id, 0, %(now)s, read.worker_id, 1, read.cpu_cores, read.memory_bytes,
        read.gpu_utilisation, read.gpu_memory_bytes, read.gpu_power_watts
    FROM jsonb_to_recordset(%(points)s) AS read(
        job_id text, worker_id text, cpu_cores float8, memory_bytes bigint, gpu_utilisation float8,
        gpu_memory_bytes bigint, gpu_power_watts float8
    ) JOIN jobs_job job ON job.id = read.job_id  -- it may have been deleted meanwhile
    ON CONFLICT DO NOTHING
"""
_IDLE: Final = """
    UPDATE jobs_job SET idle_since =
        CASE WHEN id = ANY(%(idle)s) THEN coalesce(idle_since, %(now)s) END
    WHERE id IN (
        SELECT id FROM jobs_job
        WHERE id = ANY(%(idle)s) AND idle_since IS NULL AND state = ANY(%(training)s)
            OR id = ANY(%(busy)s) AND idle_since IS NOT NULL
        FOR NO KEY UPDATE SKIP LOCKED
    )
"""
_MEAN: Final = "sum({0} * points) / nullif(sum(points) FILTER (WHERE {0} IS NOT NULL), 0)"
_WHOLE: Final = ("memory_bytes", "gpu_memory_bytes")
_VALUES: Final = (
    *("cpu_cores", "memory_bytes", "gpu_utilisation", "gpu_memory_bytes", "gpu_power_watts"),
)
_MEANS: Final = ", ".join(
    f"round({_MEAN.format(name)})" if name in _WHOLE else _MEAN.format(name) for name in _VALUES
)
_MERGED: Final = ", ".join(
    f"{name} = coalesce((known.{name} * known.points + excluded.{name} * excluded.points)"
    f" / (known.points + excluded.points), excluded.{name}, known.{name})"
    for name in _VALUES
)
_MOVE: Final = f"""
    WITH gone AS (
        DELETE FROM jobs_usagepoint WHERE ctid = ANY(ARRAY(
            SELECT ctid FROM jobs_usagepoint WHERE width = %(from)s AND at < %(before)s
            ORDER BY at LIMIT %(most)s FOR UPDATE SKIP LOCKED
        )) RETURNING *
    ), moved AS (
        INSERT INTO jobs_usagepoint AS known (
            job_id, width, at, worker_id, points, {", ".join(_VALUES)}
        )
        SELECT job_id, %(to)s,
            to_timestamp(floor(extract(epoch FROM at) / %(to)s) * %(to)s) AS start, worker_id,
            sum(points), {_MEANS}
        FROM gone JOIN jobs_job job ON job.id = gone.job_id GROUP BY job_id, start, worker_id
        ON CONFLICT (job_id, width, at, worker_id) DO UPDATE SET
            points = known.points + excluded.points, {_MERGED}
    )
    SELECT count(*) FROM gone
"""  # noqa: S608 - names of columns


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerUse:
    """One worker at one moment. None: nobody can tell."""

    job_id: str
    worker_id: str
    cpu_cores: float | None = None
    memory_bytes: int | None = None
    gpu_utilisation: float | None = None
    gpu_memory_bytes: int | None = None
    gpu_power_watts: float | None = None


def record_usage(
    uses: Sequence[WorkerUse], *, idle: Collection[str], busy: Collection[str], now: datetime
) -> None:
    """Store the points; note since when jobs are idle, and which are so no more.

    Two statements, however many jobs there are. A job whose row is held is noted the next time.
    """
    with connection.cursor() as cursor:
        if uses:
            points = json.dumps([asdict(use) for use in uses])
            cursor.execute(_INSERT, {"points": points, "now": now})
        if idle or busy:
            training = [JobState.RUNNING, JobState.RESCALING]
            noted: dict[str, Any] = {
                "idle": [*idle],
                "busy": [*busy],
                "training": training,
                "now": now,
            }
            cursor.execute(_IDLE, noted)


def roll_up_usage(now: datetime, has_time: Callable[[], bool]) -> int:
    """Move old points into wider stretches; return how many. The next run goes on."""
    moved = 0
    for narrow, wide, kept in ((0, 60, RAW_FOR), (60, 600, MINUTES_FOR)):
        last = MOVED_AT_ONCE
        while last == MOVED_AT_ONCE and has_time():
            with connection.cursor() as cursor:
                values: dict[str, Any] = {
                    "from": narrow,
                    "to": wide,
                    "before": now - kept,
                    "most": MOVED_AT_ONCE,
                }
                cursor.execute(_MOVE, values)
                last = int(cursor.fetchone()[0])
            moved += last
    return moved
