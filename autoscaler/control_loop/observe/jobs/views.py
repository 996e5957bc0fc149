"""How does everything stand? Reads the database and the worker host, changes nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from cluster.worker_host import ObservedProcess
from django.db.models import F, Model, Q, QuerySet, TextField
from django.db.models.functions import Cast

from autoscaler.control_loop.observe.jobs.job_view import JobView, WorkerView, has_only_waited
from autoscaler.control_loop.observe.jobs.names import coordinator_id
from autoscaler.control_loop.observe.jobs.waiting import VERSION, WaitingMemory
from autoscaler.control_loop.outside.surroundings import Surroundings
from jobs.lifecycle import ACTIVE, State
from jobs.models import Assignment, Generation, Job, Worker
from jobs.spec.stored_spec import StoredSpecCache

WITH_WORKERS = ACTIVE | {State.STOPPING}

Processes = Mapping[str, ObservedProcess]

_specs: Final = StoredSpecCache()
_waiting: Final = WaitingMemory()
_UNREAD_OF_JOBS: Final = (  # may be long, of each job that waits; the spec is read as text
    "spec",
    "resolved_spec",
    "labels",
    "prediction",
    "remedy",
    "values",
    "warnings",
    "explanation_for_admins",
)
_UNREAD_OF_WORKERS: Final = (  # read of each worker that trains, so no more than is needed
    *(name for name in Worker.MEASURED if name not in {"relative_speed", "is_straggler"}),
    *("last_lines", "counted_at", "slowness_notice_at", "straggler_found_at", "straggler_gpus"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """What belongs to a set of jobs, by job id; three statements however many jobs there are."""

    assignments: Mapping[str, Assignment]
    generations: Mapping[str, Generation]
    workers: Mapping[str, list[Worker]]


def live_jobs(processes: Processes, around: Surroundings | None = None) -> tuple[JobView, ...]:
    """Jobs that hold GPUs or want some, in the order they were submitted, read in one pass.

    Of jobs that have only waited, which have no processes, the same views may come again.
    """
    wanted = Q(state__in=[State.QUEUED, *WITH_WORKERS]) | Q(pk__in=_live_workers().values("job"))
    found = Job.objects.filter(wanted).order_by("submitted_at", "id").values_list("id", *VERSION)
    versions = {job_id: version for job_id, *version in found}
    views = _waiting.unchanged(versions)
    changed = [job_id for job_id in versions if job_id not in views]
    views |= {view.id: view for view in job_views(changed, processes, around)}
    in_order = tuple(views[job_id] for job_id in versions if job_id in views)
    _waiting.remember(in_order, versions)
    return in_order


def job_views(
    job_ids: Collection[str], processes: Processes, around: Surroundings | None = None
) -> tuple[JobView, ...]:
    """The jobs in the given order, in four statements and those of `around`; unknown are left out.

    One whose spec cannot be read is there, too: it may hold GPUs, and has to be looked after.
    """
    if not job_ids:
        return ()
    around = around or Surroundings()
    found = Job.objects.defer(*_UNREAD_OF_JOBS)
    jobs = found.annotate(stored_spec=Cast("resolved_spec", TextField())).in_bulk(job_ids)
    for job in jobs.values():
        _put(job, "team", around.teams.get(job.team_id))
        _put(job, "pool", around.pools.get(job.pool_id))
    rows = _rows([job.id for job in jobs.values() if not has_only_waited(job)], around)
    return tuple(_view(jobs[job_id], rows, processes) for job_id in job_ids if job_id in jobs)


def _put(row: Model, name: str, related: Model | None) -> None:
    """Django looks up by itself what came into being after the others were read."""
    if related is not None:
        setattr(row, name, related)


def _view(job: Job, rows: Rows, processes: Processes) -> JobView:
    stored = _specs.read(job.id, job.stored_spec)  # type: ignore[attr-defined] # annotated
    return JobView(
        job=job,
        spec=stored.spec,
        spec_characters=len(job.stored_spec),  # type: ignore[attr-defined] # annotated
        unreadable=stored.unreadable,
        assignment=rows.assignments.get(job.id),
        generation=rows.generations.get(job.id),
        workers=tuple(
            WorkerView(row=row, process=processes.get(row.id))
            for row in rows.workers.get(job.id, ())
        ),
        coordinator=processes.get(
            coordinator_id(job.id, term=job.coordinator_term, epoch=job.database_epoch)
        ),
    )


def _rows(job_ids: Collection[str], around: Surroundings) -> Rows:
    if not job_ids:
        return Rows(assignments={}, generations={}, workers={})
    newest = (
        Assignment.objects.filter(job__in=job_ids)
        .order_by("job_id", "-revision")
        .distinct("job_id")
    )
    last = Generation.objects.filter(job__in=job_ids).order_by("job_id", "-number")
    workers: dict[str, list[Worker]] = {}
    relevant = ~Q(phase=Worker.Phase.GONE) | Q(attempt=F("job__attempt"))
    rows = Worker.objects.filter(relevant, job__in=job_ids).defer(*_UNREAD_OF_WORKERS)
    for row in rows.order_by("created_at", "id"):
        _put(row, "node", around.nodes.get(row.node_id) if row.node_id else None)
        workers.setdefault(row.job_id, []).append(row)
    return Rows(
        assignments={assignment.job_id: assignment for assignment in newest},
        generations={one.job_id: one for one in last.distinct("job_id").defer("message")},
        workers=workers,
    )


def _live_workers() -> QuerySet[Worker]:
    return Worker.objects.exclude(phase=Worker.Phase.GONE)
