"""What do new points say of how far a job is now? Columns of its row."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from jobs.commands.observations.reporting_job import ReportingJob
from jobs.reports.fields import MOST_VALUES
from jobs.reports.sync_report import MetricEntry


def of_points(job: ReportingJob, metrics: Sequence[MetricEntry], now: datetime) -> dict[str, Any]:
    """Return the newest point, and the newest value of each metric the script logs."""
    newest = max(metrics, key=lambda point: (point.generation, point.step))
    moved = {} if newest.step == job.step else {"progress_at": now}
    return moved | {
        "step": newest.step,
        "epoch": newest.epoch,
        "samples": newest.samples,
        "samples_per_second": newest.samples_per_second,
        "values": json.dumps(_newest_values(job.values, metrics)),
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
