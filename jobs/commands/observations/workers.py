"""How are reported observations of workers stored? Together; a worker that is gone stays gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from django.db.models import Prefetch

from autoscaler.job_vocabulary import EventKind, JobReason
from concertina_worker.protocol import WorkerPhase
from jobs.commands.observations.reported_events import ReportedEvents
from jobs.models import Assignment, GpuClaim, Job, Worker
from jobs.reports.sync_report import WorkerEntry

_PHASES: Final = {
    WorkerPhase.READY: Worker.Phase.READY,
    WorkerPhase.TRAINING: Worker.Phase.TRAINING,
    WorkerPhase.FINISHED: Worker.Phase.LEAVING,
}
"""In all others it keeps its phase: that says hello, but has not registered, or that is lost until
the worker host has seen it gone."""
_OBSERVED: Final = (
    "phase",
    "error",
    "is_given_up",
    "straggler_found_at",
    "straggler_gpus",
    *Worker.MEASURED,
)


def store_workers(
    job: Job,
    reported: Sequence[WorkerEntry],
    wanted: Assignment | None,
    events: ReportedEvents,
    now: datetime,
) -> None:
    """Bring phases and speeds of workers up to date, in one statement when any has changed.

    Only whoever holds the job's row, as the caller does, may write that a worker has gone.
    """
    if not reported:
        return
    entries = {entry.worker_id: entry for entry in reported}
    known = Worker.objects.filter(job=job, pk__in=entries).exclude(phase=Worker.Phase.GONE)
    claims = Prefetch("claims", GpuClaim.objects.order_by("gpu_index"))
    rows = known.select_related("node").prefetch_related(claims)
    members = set(wanted.worker_ids) if wanted else set()
    found = {row: _news_of(row, entries[row.id], is_wanted=row.id in members) for row in rows}
    changed = [row for row, new in found.items() if _learn(row, new, events, now)]
    if changed:
        Worker.objects.bulk_create(
            changed, update_conflicts=True, unique_fields=["id"], update_fields=_OBSERVED
        )


def _news_of(worker: Worker, entry: WorkerEntry, *, is_wanted: bool) -> dict[str, Any]:
    """Return what the entry says about the row; what it leaves out has not changed."""
    return {
        **_measured(entry),
        "phase": _PHASES.get(entry.phase, worker.phase) if is_wanted else Worker.Phase.LEAVING,
        "error": entry.error or worker.error,
        "is_given_up": entry.given_up or worker.is_given_up,
    }


def _learn(worker: Worker, new: dict[str, Any], events: ReportedEvents, now: datetime) -> bool:
    """Put news on the row, and record what went wrong; return False if nothing is new."""
    if new["is_given_up"] and not worker.is_given_up:
        _tell_of_hung_worker(worker, new["error"], events)
    if new.get("is_straggler") and not worker.is_straggler:
        new["straggler_found_at"] = now
        new["straggler_gpus"] = [claim.gpu_index for claim in worker.claims.all()]
        _tell_of_straggler(worker, new, events)
    is_new = any(getattr(worker, name) != value for name, value in new.items())
    for name, value in new.items():
        setattr(worker, name, value)
    return is_new


def _measured(entry: WorkerEntry) -> dict[str, Any]:
    """Return the entry's values that make sense: slowness by an unknown amount does not."""
    measured = {name: getattr(entry, name) for name in Worker.MEASURED}
    new = {name: value for name, value in measured.items() if value is not None}
    if new.get("is_straggler") and "relative_speed" not in new:
        del new["is_straggler"]
    return new


def _tell_of_hung_worker(worker: Worker, error: str, events: ReportedEvents) -> None:
    events.add(
        EventKind.WORKER_HUNG,
        reason=JobReason.NODE_LOST,
        message=f"{worker.id} makes no progress and is killed. {error}",
        data={"worker": worker.id, "node": worker.named_node},
    )


def _tell_of_straggler(worker: Worker, new: Mapping[str, Any], events: ReportedEvents) -> None:
    speed = new["relative_speed"]
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
            "gpus": new["straggler_gpus"],
            "relative_speed": speed,
        },
    )
