"""Which version of each live job is in the database? One statement for all, which reads none whole.

The version of a job covers all rows that its view is made of, by what is in them, for its
coordinator writes many of them with each report and changes hardly anything. What moves with each
report is no part of the version: it is read along, and put into the view that is known already.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from django.db import connection
from django.db.models import Model

from jobs.lifecycle import ACTIVE, JobState
from jobs.models import Job, Worker

WITH_WORKERS: Final = ACTIVE | {JobState.STOPPING}
MOVING: Final = (  # of the job's row, with each report and as time goes on
    *("samples", "step", "progress_at", "coordinator_seen_at", "noise_scale"),
    *("gpu_seconds", "held_seconds"),
)
UNREAD_OF_JOBS: Final = (  # no part of a view; some may be long, and some move with each report
    *("spec", "labels", "prediction", "remedy", "values", "warnings", "explanation_for_admins"),
    *("epoch", "samples_per_second", "metric_points", "checkpoint_step"),
)
UNREAD_OF_WORKERS: Final = (  # read of each worker that trains, so no more than is needed
    *(name for name in Worker.MEASURED if name not in {"relative_speed", "is_straggler"}),
    *("last_lines", "counted_at", "slowness_notice_at", "straggler_found_at", "straggler_gpus"),
)


@dataclass(frozen=True, slots=True)
class Version:
    """The version of all that a job's view is made of, and what moves beside it."""

    rows: tuple[object, ...]
    moving: tuple[object, ...]  # in the order of `MOVING`


def live_versions() -> Mapping[str, Version]:
    """Return that of each job that holds GPUs or wants some, in the order of their submission."""
    with connection.cursor() as cursor:
        cursor.execute(_STATEMENT, [sorted([JobState.QUEUED, *WITH_WORKERS])])
        return {
            job_id: Version((of_job, of_workers), tuple(moving))
            for job_id, of_job, of_workers, *moving in cursor.fetchall()
        }


def _columns(model: type[Model], alias: str, unread: Collection[str]) -> str:
    fields = model._meta.concrete_fields  # noqa: SLF001 - Django's own word
    return ", ".join(f'{alias}."{one.column}"' for one in fields if one.name not in unread)


def _row(alias: str) -> str:
    """Every write of a row makes a new version of it.

    It is the transaction that wrote the row, and where it wrote it, for one may write a row twice.
    A database that was restored counts anew: nobody may compare versions of before and after.
    """
    return f"{alias}.xmin::text || {alias}.ctid::text"


def _newest(table: str, by: str) -> str:
    of_job = f"WHERE newest.job_id = job.id ORDER BY newest.{by} DESC LIMIT 1"
    return f"(SELECT {_row('newest')} FROM {table} newest {of_job})"  # noqa: S608 - own names


def _written() -> str:
    apart = (*UNREAD_OF_JOBS, *MOVING)
    return f"""
        WITH wanted AS MATERIALIZED (
            SELECT id FROM jobs_job WHERE state = ANY(%s)
            UNION SELECT job_id FROM jobs_worker WHERE phase <> 'gone'
        ), workers AS (
            SELECT worker.job_id, bit_xor(hash_record_extended(
                ROW({_columns(Worker, "worker", UNREAD_OF_WORKERS)}, {_row("node")}), 0
            )) AS version
            FROM wanted JOIN jobs_job job USING (id) JOIN jobs_worker worker ON job_id = job.id
                LEFT JOIN cluster_node node ON node.id = worker.node_id
            WHERE worker.phase <> 'gone' OR worker.attempt = job.attempt
            GROUP BY worker.job_id
        )
        SELECT job.id, hash_record_extended(ROW(
            {_columns(Job, "job", apart)}, {_row("team")}, {_row("pool")}, {_row("sharing")},
            {_newest("jobs_assignment", "revision")}, {_newest("jobs_generation", "number")}
        ), 0), workers.version, {", ".join(f"job.{name}" for name in MOVING)}
        FROM wanted JOIN jobs_job job USING (id)
            JOIN tenancy_team team ON team.id = job.team_id
            JOIN cluster_pool pool ON pool.id = job.pool_id
            LEFT JOIN tenancy_fairsharesettings sharing ON sharing.pool_id = pool.id
            LEFT JOIN workers ON workers.job_id = job.id
        ORDER BY job.submitted_at, job.id
    """  # noqa: S608 - own names


_STATEMENT: Final = _written()
