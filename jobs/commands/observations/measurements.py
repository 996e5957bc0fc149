"""How are reported step times stored? Only those that changed, with the rest of the report.

Each report has all of them; most have not changed since the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from django.db.models import Subquery

from concertina_worker.protocol import MOST_MEASUREMENTS
from jobs.commands.observations.one_statement import Part, rows
from jobs.commands.observations.reporting_job import ReportingJob
from jobs.models import Measurement
from jobs.reports.sync_report import MeasurementEntry

MOST_KEPT: Final = MOST_MEASUREMENTS  # of one job, the newest: a model is fitted to all of them

# On how many nodes it was is known from the newest generation of the same configuration.
_QUERIES: Final = """
    measurement AS (
        INSERT INTO jobs_measurement (
            job_id, gpu_type, workers, nodes, global_batch_size, steps, step_seconds, updated_at
        )
        SELECT %(job)s, %(gpu_type)s, told.workers, greatest(place.nodes, 1),
               told.global_batch_size, told.steps, told.step_seconds, now()
        FROM jsonb_to_recordset(%(measurements)s) AS told (
            workers integer, global_batch_size integer, steps integer, step_seconds float8
        )
        LEFT JOIN LATERAL (
            SELECT worker_ids FROM jobs_generation
            WHERE job_id = %(job)s AND workers = told.workers
                AND global_batch_size = told.global_batch_size
            ORDER BY number DESC LIMIT 1
        ) AS generation ON true
        LEFT JOIN LATERAL (
            SELECT count(DISTINCT coalesce(node_id, 0)) AS nodes FROM jobs_worker
            WHERE job_id = %(job)s
                AND id IN (SELECT jsonb_array_elements_text(generation.worker_ids))
        ) AS place ON true
        WHERE NOT EXISTS (
            SELECT FROM jobs_measurement WHERE job_id = %(job)s AND gpu_type = %(gpu_type)s
                AND (workers, global_batch_size) = (told.workers, told.global_batch_size)
                AND (steps, step_seconds) = (told.steps, told.step_seconds)
        )
        ON CONFLICT (job_id, gpu_type, workers, nodes, global_batch_size) DO UPDATE
        SET steps = excluded.steps, step_seconds = excluded.step_seconds,
            updated_at = excluded.updated_at
        RETURNING 1
    )
"""
_MOST_THERE: Final = """
    (SELECT count(*) FROM jobs_measurement WHERE job_id = %(job)s)
    + (SELECT count(*) FROM measurement)
"""


def measurements_part(job: ReportingJob, reported: Sequence[MeasurementEntry]) -> list[Part]:
    """Replace the measurements of each configuration by what is known about it now."""
    newest = {(entry.workers, entry.global_batch_size): entry for entry in reported}
    if not newest:
        return []
    parameters = {"measurements": rows([*map(dict, newest.values())]), "gpu_type": job.gpu_type}
    return [Part(queries=_QUERIES, parameters=parameters, told={"measurements": _MOST_THERE})]


def keep_the_newest(job: ReportingJob, most_there: int) -> None:
    """Forget the oldest, if there may be more of them than are kept."""
    if most_there <= MOST_KEPT:
        return
    newest = Measurement.objects.filter(job=job.id).order_by("-updated_at", "-id")
    beyond = Subquery(newest.values("id")[MOST_KEPT:])
    Measurement.objects.filter(job=job.id, id__in=beyond).delete()
