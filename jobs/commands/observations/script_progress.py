"""What does it change that a script told how far it is? The same as if a coordinator had reported.

The points and step times of both are stored by the same parts, within the same bounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from jobs.commands.observations import reporting_job
from jobs.commands.observations.rows import one_statement
from jobs.commands.observations.rows.measurements import (
    MEASUREMENTS,
    keep_the_newest,
    rows_of_measurements,
)
from jobs.commands.observations.rows.metrics import METRICS, progress_of, rows_of_metrics
from jobs.commands.observations.rows.one_statement import ObservationDraft
from jobs.commands.observations.service_time import ServiceTime
from jobs.models import ScriptReading
from jobs.reports.sync_report import MeasurementEntry, MetricEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptProgress:
    """What was read at one look."""

    metrics: Sequence[MetricEntry]
    measurements: Sequence[MeasurementEntry]
    total_samples: int | None


@transaction.atomic
def record_script_progress(
    *, job_id: str, progress: ScriptProgress, state: Mapping[str, Any], now: datetime
) -> None:
    """Store it, and how far was read; nothing of a job that was deleted meanwhile."""
    job = reporting_job.hold(job_id)
    if job is None:
        return
    changes: dict[str, Any] = {"is_measured": job.is_measured or bool(progress.measurements)}
    if progress.metrics:
        changes |= progress_of(job, progress.metrics, now)
    if progress.total_samples is not None:
        changes["total_samples"] = progress.total_samples
    rows = {
        METRICS.name: rows_of_metrics(job, progress.metrics, ServiceTime.of(job, now)),
        MEASUREMENTS.name: rows_of_measurements(job, progress.measurements),
    }
    draft = ObservationDraft(job_id=job.id, changes=changes, rows=rows)
    _, most_there = one_statement.write([draft], (METRICS, MEASUREMENTS), now)[job.id]
    keep_the_newest(job.id, most_there)
    ScriptReading.objects.bulk_create(
        [ScriptReading(job_id=job.id, read_at=now, state=dict(state))],
        update_conflicts=True,
        unique_fields=["job"],
        update_fields=["read_at", "state"],
    )
