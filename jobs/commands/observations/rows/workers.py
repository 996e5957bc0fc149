"""How are reported observations of workers stored? Together; a worker that is gone stays gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from django.db.models import Prefetch

from autoscaler.job_vocabulary import EventKind, JobReason
from concertina_worker.protocol import MemberPhase
from jobs.commands.observations.reported_events import ReportedEvents
from jobs.commands.observations.reporting_job import ReportingJob
from jobs.commands.observations.rows.one_statement import StatementPart
from jobs.models import GpuClaim, Worker
from jobs.reports.sync_report import WorkerEntry
from jobs.worker_phase import WorkerPhase

_PHASES: Final = {
    MemberPhase.READY: WorkerPhase.READY,
    MemberPhase.TRAINING: WorkerPhase.TRAINING,
    MemberPhase.FINISHED: WorkerPhase.LEAVING,
}
"""In all others it keeps its phase: that says hello, but has not registered, or that is lost until
the worker host has seen it gone."""
_COLUMNS: Final = {
    "phase": "text",
    "error": "text",
    "is_given_up": "boolean",
    "straggler_found_at": "timestamptz",
    "straggler_gpus": "jsonb",
    "compute_seconds": "float8",
    "samples_per_second": "float8",
    "relative_speed": "float8",
    "is_straggler": "boolean",
    "gpu_utilisation": "float8",
    "gpu_memory_bytes": "bigint",
    "gpu_memory_total_bytes": "bigint",
}
_NEW: Final = {name: f"coalesce(reported.{name}, worker.{name})" for name in _COLUMNS}
_QUERIES: Final = f"""
    worker AS (
        UPDATE jobs_worker AS worker
        SET {", ".join(f"{name} = {new}" for name, new in _NEW.items())}
        FROM jsonb_to_recordset(%(workers)s) AS reported (
            id text, job_id text,
            {", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())}
        )
        WHERE worker.id = reported.id AND worker.job_id = reported.job_id AND worker.phase <> 'gone'
            AND ({", ".join(f"worker.{name}" for name in _COLUMNS)})
            IS DISTINCT FROM ({", ".join(_NEW.values())})
    )
"""  # noqa: S608 - of names that stand above
WORKERS: Final = StatementPart(name="workers", queries=_QUERIES)


def rows_of_workers(
    job: ReportingJob, reported: Sequence[WorkerEntry], events: ReportedEvents, now: datetime
) -> list[dict[str, Any]]:
    """Bring phases and speeds of workers up to date; what an entry leaves out has not changed.

    Only whoever holds the job's row, as the caller does, may write that a worker has gone.
    """
    members = set(job.wanted.worker_ids) if job.wanted else set()
    entries = {entry.worker_id: entry for entry in reported}
    news = {
        worker_id: _news_of(entry, is_wanted=worker_id in members)
        for worker_id, entry in entries.items()
    }
    suspects = [worker_id for worker_id, new in news.items() if _may_be_news(new)]
    for worker in _known(job, suspects) if suspects else ():
        news[worker.id] |= _found_out(worker, news[worker.id], events, now)
    return [{"id": worker_id, "job_id": job.id} | new for worker_id, new in news.items()]


def _news_of(entry: WorkerEntry, *, is_wanted: bool) -> dict[str, Any]:
    """Return the entry's values that make sense: slowness by an unknown amount does not."""
    measured = {name: getattr(entry, name) for name in Worker.MEASURED}
    new = {name: value for name, value in measured.items() if value is not None}
    if new.get("is_straggler") and "relative_speed" not in new:
        del new["is_straggler"]
    phase = _PHASES.get(entry.phase) if is_wanted else WorkerPhase.LEAVING
    return new | {
        "phase": phase,
        "error": entry.error or None,
        "is_given_up": entry.given_up or None,
    }


def _may_be_news(new: Mapping[str, Any]) -> bool:
    return bool(new["is_given_up"] or new.get("is_straggler"))


def _known(job: ReportingJob, worker_ids: Sequence[str]) -> Sequence[Worker]:
    rows = Worker.objects.filter(job=job.id, pk__in=worker_ids).exclude(phase=WorkerPhase.GONE)
    claims = Prefetch("claims", GpuClaim.objects.order_by("gpu_index"))
    return list(rows.select_related("node").prefetch_related(claims))


def _found_out(
    worker: Worker, new: Mapping[str, Any], events: ReportedEvents, now: datetime
) -> dict[str, Any]:
    """Record what went wrong, if that is new; return what is stored about it."""
    if new["is_given_up"] and not worker.is_given_up:
        _tell_of_hung_worker(worker, new["error"] or worker.error, events)
    if not new.get("is_straggler") or worker.is_straggler:
        return {}
    gpus = [claim.gpu_index for claim in worker.claims.all()]
    _tell_of_straggler(worker, new["relative_speed"], gpus, events)
    return {"straggler_found_at": now, "straggler_gpus": gpus}


def _tell_of_hung_worker(worker: Worker, error: str, events: ReportedEvents) -> None:
    events.add(
        EventKind.WORKER_HUNG,
        reason=JobReason.NODE_LOST,
        message=f"{worker.id} makes no progress and is killed. {error}",
        data={"worker": worker.id, "node": worker.named_node},
    )


def _tell_of_straggler(
    worker: Worker, speed: float, gpus: Sequence[int], events: ReportedEvents
) -> None:
    events.add(
        EventKind.STRAGGLER_FOUND,
        reason=JobReason.STRAGGLER,
        message=(
            f"{worker.id} on node {worker.named_node} is {1 - speed:.0%} slower than the"
            " median of the job's workers."
        ).replace("%", " %"),
        data={
            "worker": worker.id,
            "node": worker.named_node,
            "gpus": [*gpus],
            "relative_speed": speed,
        },
    )
