"""How does everything stand? Reads the database and the worker host, changes nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from cluster.worker_host import ObservedProcess
from django.db.models import F, Max, Q, QuerySet

from autoscaler.control_loop.job_view import JobView, WorkerView
from autoscaler.control_loop.names import coordinator_id
from jobs import events
from jobs.lifecycle import ACTIVE, State
from jobs.models import Assignment, Event, Job, Worker
from jobs.spec import JobSpec

WITH_WORKERS = ACTIVE | {State.STOPPING}

Processes = Mapping[str, ObservedProcess]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """What belongs to a set of jobs, by job id; five queries however many jobs there are."""

    assignments: Mapping[str, Assignment]
    workers: Mapping[str, list[Worker]]
    state_since: Mapping[str, datetime]


def job_ids_with_workers() -> list[str]:
    """Jobs that may hold GPUs, oldest first."""
    held = Q(state__in=WITH_WORKERS) | Q(pk__in=_live_workers().values("job"))
    return list(
        Job.objects.filter(held).order_by("submitted_at", "id").values_list("id", flat=True)
    )


def job_views(job_ids: Collection[str], processes: Processes) -> tuple[JobView, ...]:
    """The jobs in the given order; unknown ids are left out."""
    jobs = Job.objects.select_related("team", "pool").in_bulk(job_ids)
    rows = _rows(list(jobs))
    return tuple(_view(jobs[job_id], rows, processes) for job_id in job_ids if job_id in jobs)


def job_view(job_id: str, processes: Processes) -> JobView | None:
    return next(iter(job_views([job_id], processes)), None)


def _view(job: Job, rows: Rows, processes: Processes) -> JobView:
    return JobView(
        job=job,
        spec=JobSpec.from_resolved(job.resolved_spec),
        assignment=rows.assignments.get(job.id),
        workers=tuple(
            WorkerView(row=row, process=processes.get(row.id))
            for row in rows.workers.get(job.id, ())
        ),
        coordinator=processes.get(coordinator_id(job.id)),
        state_since=rows.state_since.get(job.id, job.submitted_at),
    )


def _rows(job_ids: Collection[str]) -> Rows:
    newest = (
        Assignment.objects.filter(job__in=job_ids)
        .order_by("job_id", "-revision")
        .distinct("job_id")
    )
    workers: dict[str, list[Worker]] = {}
    relevant = ~Q(phase=Worker.Phase.GONE) | Q(attempt=F("job__attempt"))
    rows = Worker.objects.filter(relevant, job__in=job_ids).select_related("node")
    for row in rows.order_by("created_at", "id"):
        workers.setdefault(row.job_id, []).append(row)
    moves = Event.objects.filter(
        job__in=job_ids, kind=events.STATE_CHANGED, new_state=F("job__state")
    )
    since = moves.values_list("job").annotate(Max("at"))
    return Rows(
        assignments={assignment.job_id: assignment for assignment in newest},
        workers=workers,
        state_since=dict(since.order_by()),
    )


def _live_workers() -> QuerySet[Worker]:
    return Worker.objects.exclude(phase=Worker.Phase.GONE)
