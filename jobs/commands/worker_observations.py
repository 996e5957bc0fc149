"""How are a coordinator's observations of its workers stored? Phases guarded, speeds together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from concertina_worker.protocol import WorkerPhase
from jobs import events
from jobs.models import Assignment, Job, Worker
from jobs.sync_report import WorkerEntry

_PHASES: Final = {
    WorkerPhase.READY: Worker.Phase.READY,
    WorkerPhase.TRAINING: Worker.Phase.TRAINING,
    WorkerPhase.FINISHED: Worker.Phase.LEAVING,
}
"""In all others it keeps its phase: that says hello, but has not registered, or that is lost until
the worker host has seen it gone."""


def store_workers(job: Job, reported: Sequence[WorkerEntry], wanted: Assignment | None) -> None:
    """Bring phases and speeds of workers up to date; those seen gone stay gone."""
    entries = {entry.worker_id: entry for entry in reported}
    known = Worker.objects.filter(job=job, pk__in=entries).exclude(phase=Worker.Phase.GONE)
    rows = list(known.select_related("node"))
    members = set(wanted.worker_ids) if wanted else set()
    for worker in rows:
        _store_phase(worker, entries[worker.id], is_wanted=worker.id in members)
    _store_speeds(rows, entries)


def _store_phase(worker: Worker, entry: WorkerEntry, *, is_wanted: bool) -> None:
    phase = _PHASES.get(entry.phase, worker.phase) if is_wanted else Worker.Phase.LEAVING
    error = entry.error or worker.error
    is_given_up = entry.given_up or worker.is_given_up
    if (worker.phase, worker.error, worker.is_given_up) != (phase, error, is_given_up):
        still = Worker.objects.filter(pk=worker.id).exclude(phase=Worker.Phase.GONE)
        still.update(phase=phase, error=error, is_given_up=is_given_up)
    if is_given_up and not worker.is_given_up:
        _record_hung_worker(worker, error)


def _record_hung_worker(worker: Worker, error: str) -> None:
    events.record(
        job_id=worker.job_id,
        kind=events.WORKER_HUNG,
        reason="node_lost",
        message=f"{worker.id} does not come any further and is killed. {error}",
        data={"worker": worker.id, "node": worker.node.name},
    )


def _store_speeds(rows: Sequence[Worker], entries: Mapping[str, WorkerEntry]) -> None:
    """One statement, when any has changed. What is not told this time is as it was."""
    changed = []
    for worker in rows:
        new = _measured(entries[worker.id])
        if any(getattr(worker, name) != value for name, value in new.items()):
            if new.get("is_straggler") and not worker.is_straggler:
                _record_straggler(worker, new["relative_speed"])
            for name, value in new.items():
                setattr(worker, name, value)
            changed.append(worker)
    if changed:
        Worker.objects.bulk_update(changed, Worker.MEASURED)


def _measured(entry: WorkerEntry) -> dict[str, Any]:
    """What an entry tells and makes sense: nobody is slower than others by an unknown amount."""
    told = {name: getattr(entry, name) for name in Worker.MEASURED}
    new = {name: value for name, value in told.items() if value is not None}
    if new.get("is_straggler") and "relative_speed" not in new:
        del new["is_straggler"]
    return new


def _record_straggler(worker: Worker, relative_speed: float) -> None:
    events.record(
        job_id=worker.job_id,
        kind=events.STRAGGLER_FOUND,
        reason="straggler",
        message=(
            f"{worker.id} on node {worker.node.name} is {1 - relative_speed:.0%} slower than the"
            " median of the job's workers."
        ).replace("%", " %"),
        data={
            "worker": worker.id,
            "node": worker.node.name,
            "gpus": sorted(claim.gpu_index for claim in worker.claims.all()),
            "relative_speed": relative_speed,
        },
    )
