"""How are reported step times stored? Only those that changed, with the rest of the reports.

Each report has all of them; most have not changed since the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.db.models import Subquery

from concertina_worker.protocol import MOST_MEASUREMENTS
from jobs.commands.observations.reporting_job import ReportingJob
from jobs.commands.observations.rows.one_statement import StatementPart
from jobs.models import Measurement
from jobs.reports.sync_report import MeasurementEntry

MOST_KEPT: Final = MOST_MEASUREMENTS  # of one job, the newest: a model is fitted to all of them

# On how many nodes it was is known from the newest generation of the same configuration.
_QUERIES: Final = """
    measurement AS (
        INSERT INTO jobs_measurement (
            job_id, gpu_type, workers, nodes, global_batch_size, steps, step_seconds, updated_at
        )
        SELECT reported.job_id, reported.gpu_type, reported.workers, greatest(place.nodes, 1),
               reported.global_batch_size, reported.steps, reported.step_seconds, now()
        FROM jsonb_to_recordset(%(measurements)s) AS reported (
            job_id text, gpu_type text, workers integer, global_batch_size integer, steps integer,
            step_seconds float8
        )
        LEFT JOIN LATERAL (
            SELECT worker_ids FROM jobs_generation
            WHERE job_id = reported.job_id AND workers = reported.workers
                AND global_batch_size = reported.global_batch_size
            ORDER BY number DESC LIMIT 1
        ) AS generation ON true
        LEFT JOIN LATERAL (
            SELECT count(DISTINCT coalesce(node_id, 0)) AS nodes FROM jobs_worker
            WHERE job_id = reported.job_id
                AND id IN (SELECT jsonb_array_elements_text(generation.worker_ids))
        ) AS place ON true
        WHERE NOT EXISTS (
            SELECT FROM jobs_measurement AS known
            WHERE known.job_id = reported.job_id AND known.gpu_type = reported.gpu_type
                AND (known.workers, known.global_batch_size)
                    = (reported.workers, reported.global_batch_size)
                AND (known.steps, known.step_seconds) = (reported.steps, reported.step_seconds)
        )
        ON CONFLICT (job_id, gpu_type, workers, nodes, global_batch_size) DO UPDATE
        SET steps = excluded.steps, step_seconds = excluded.step_seconds,
            updated_at = excluded.updated_at
        RETURNING job_id
    )
"""
_MOST_THERE: Final = """
    (SELECT count(*) FROM jobs_measurement WHERE job_id = job.id)
    + (SELECT count(*) FROM measurement WHERE job_id = job.id)
"""
MEASUREMENTS: Final = StatementPart(name="measurements", queries=_QUERIES, answer=_MOST_THERE)


def rows_of_measurements(
    job: ReportingJob, reported: Sequence[MeasurementEntry]
) -> list[dict[str, Any]]:
    """Replace the measurements of each configuration by what is known about it now."""
    newest = {(entry.workers, entry.global_batch_size): entry for entry in reported}
    return [
        {"job_id": job.id, "gpu_type": job.gpu_type, **dict(entry)} for entry in newest.values()
    ]


def keep_the_newest(job_id: str, most_there: int) -> None:
    """Forget the oldest, if there may be more of them than are kept."""
    if most_there <= MOST_KEPT:
        return
    newest = Measurement.objects.filter(job=job_id).order_by("-updated_at", "-id")
    beyond = Subquery(newest.values("id")[MOST_KEPT:])
    Measurement.objects.filter(job=job_id, id__in=beyond).delete()
