"""What has to be known of jobs to store their reports, and to answer? One statement tells it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import connection

from jobs.spec.stored_fields import MODE

_OF_JOB: Final = (
    *("id", "state", "mode", "attempt", "revision", "generation", "rescales", "started_at"),
    *("takes_workers_token", "coordinator_term", "coordinator_seen_at", "submitted_at"),
    *("trained_at", "group_seen_at", "step", "model_bytes", "total_samples", "metric_points"),
    *("is_measured", "noise_scale", "first_noise_scale", "earlier_run"),
)
_DOCUMENTS: Final = ("values", "batch_limits", "warnings")
_OF_ASSIGNMENT: Final = (
    *("worker_ids", "revision", "at", "attempt", "global_batch_size", "reason", "message"),
)
_READ: Final = f"""
    SELECT {", ".join(f"wanted.{name}" for name in _OF_ASSIGNMENT)},
           {", ".join(f'job."{name}"' for name in (*_DOCUMENTS, *_OF_JOB))},
           pool.gpu_type, {MODE.sql_text},
           (SELECT max(number) FROM jobs_generation WHERE job_id = job.id)
    FROM jobs_job AS job
    JOIN cluster_pool AS pool ON pool.id = job.pool_id
    LEFT JOIN jobs_assignment AS wanted
        ON wanted.job_id = job.id AND wanted.revision = job.revision
    WHERE job.id = ANY(%s) ORDER BY job.id
    FOR NO KEY UPDATE OF job
"""  # noqa: S608 - of names that stand above
_THERE: Final = "SELECT id FROM jobs_job WHERE id = ANY(%s)"


@dataclass(frozen=True, slots=True)
class WantedAssignment:
    """The newest assignment."""

    worker_ids: list[str]
    revision: int
    at: datetime
    attempt: int
    global_batch_size: int
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class ReportingJob:
    """The columns of a job that matter to a report, and what is wanted of the job."""

    wanted: WantedAssignment | None
    values: Mapping[str, float | None]
    batch_limits: Mapping[str, int]  # by type of GPU
    warnings: list[str]
    id: str
    state: str
    mode: str
    attempt: int
    revision: int
    generation: int
    rescales: int
    started_at: datetime | None
    takes_workers_token: bool
    coordinator_term: int
    coordinator_seen_at: datetime | None
    submitted_at: datetime
    trained_at: datetime | None
    group_seen_at: datetime | None
    step: int
    model_bytes: int
    total_samples: int | None
    metric_points: int
    is_measured: bool
    noise_scale: float | None
    first_noise_scale: float | None
    earlier_run: str
    gpu_type: str  # of its pool
    declared_mode: str
    newest_generation: int | None  # the highest number

    @property
    def is_whole(self) -> bool:
        """False where its row was changed while it was read, and its assignment is older."""
        return self.revision == (self.wanted.revision if self.wanted else 0)

    @property
    def measured_noise_scale(self) -> float | None:
        """Its own; None while it only goes by that of an earlier run."""
        is_own = self.first_noise_scale is not None or not self.earlier_run
        return self.noise_scale if is_own else None


def hold(job_id: str) -> ReportingJob | None:
    """Read a job and lock its row until the end of the transaction; None: there is none.

    Where somebody else held the row, PostgreSQL read the assignment before it waited, and the row
    afterwards: then both are read again.
    """
    job = _read([job_id]).get(job_id)
    if job is None or job.is_whole:
        return job
    return _read([job_id]).get(job_id)


def hold_free(job_ids: Collection[str]) -> dict[str, ReportingJob]:
    """Do the same for all of these whose rows nobody else holds; nobody is waited for."""
    found = _read(job_ids, "SKIP LOCKED")
    return {job_id: job for job_id, job in found.items() if job.is_whole}


def there(job_ids: Collection[str]) -> set[str]:
    """Return which of these jobs there are, whoever holds them."""
    with connection.cursor() as cursor:
        cursor.execute(_THERE, [[*job_ids]])
        return {job_id for (job_id,) in cursor.fetchall()}


def _read(job_ids: Collection[str], where_held: str = "") -> dict[str, ReportingJob]:
    with connection.cursor() as cursor:
        cursor.execute(f"{_READ} {where_held}", [[*job_ids]])
        return {job.id: job for job in map(_job, cursor.fetchall())}


def _job(row: tuple[Any, ...]) -> ReportingJob:
    documents = len(_OF_ASSIGNMENT)
    others = documents + len(_DOCUMENTS)
    wanted = None if row[0] is None else WantedAssignment(json.loads(row[0]), *row[1:documents])
    return ReportingJob(wanted, *map(json.loads, row[documents:others]), *row[others:])
