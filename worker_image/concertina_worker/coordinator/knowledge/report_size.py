"""How much of what is to be reported goes into one report? As much as the service takes."""

from __future__ import annotations

import json
from typing import Any, cast

from concertina_worker.protocol import (
    LARGEST_REPORT_BYTES,
    MOST_GENERATIONS,
    MOST_MEASUREMENTS,
    MOST_METRICS,
    MOST_WORKERS,
    SyncReport,
    WorkerReport,
)


def within_bounds(report: SyncReport) -> SyncReport:
    """Cut the report to what the service takes at once, the oldest first; the rest comes later.

    One that is too large in bytes has fewer entries, and in the end no more than a name and a
    phase of each worker.
    """
    cut = report.copy()
    cut["workers"] = report["workers"][:MOST_WORKERS]
    cut["generations"] = report["generations"][:MOST_GENERATIONS]
    cut["metrics"] = report["metrics"][:MOST_METRICS]
    cut["measurements"] = report["measurements"][-MOST_MEASUREMENTS:]
    for make_smaller in (_halve_metrics, _halve_generations, _drop_measurements, _drop_readings):
        while len(json.dumps(cut)) > LARGEST_REPORT_BYTES and make_smaller(cut):
            pass
    return cut


def _halve_metrics(report: SyncReport) -> bool:
    half = len(report["metrics"]) // 2
    report["metrics"] = report["metrics"][: max(half, 1)]
    return half > 0


def _halve_generations(report: SyncReport) -> bool:
    half = len(report["generations"]) // 2
    report["generations"] = report["generations"][: max(half, 1)]
    return half > 0


def _drop_measurements(report: SyncReport) -> bool:
    report["measurements"] = []
    return False


def _drop_readings(report: SyncReport) -> bool:
    kept = ("worker_id", "phase", "given_up")
    report["workers"] = [
        cast("WorkerReport", {name: one[name] for name in kept if name in one})
        for one in cast("list[dict[str, Any]]", report["workers"])
    ]
    return False
