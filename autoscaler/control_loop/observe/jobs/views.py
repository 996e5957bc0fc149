"""How does everything stand? Reads the database and the worker host, changes nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final

from cluster.models import Pool
from django.db.models import F, Model, Q, TextField
from django.db.models.functions import Cast

from autoscaler.control_loop.observe.jobs.job_view import LiveJob, WorkerView, has_only_waited
from autoscaler.control_loop.observe.jobs.memory import Processes, ViewMemory
from autoscaler.control_loop.observe.jobs.names import coordinator_id
from autoscaler.control_loop.observe.jobs.versions import (
    UNREAD_OF_JOBS,
    UNREAD_OF_WORKERS,
    live_versions,
)
from autoscaler.control_loop.outside.cluster_records import ClusterRecords
from jobs.models import Assignment, Generation, Job, Worker
from jobs.spec.stored_spec import StoredSpecCache
from jobs.worker_phase import WorkerPhase

_specs: Final = StoredSpecCache()
_seen: Final = ViewMemory()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """What belongs to a set of jobs, by job id; three statements however many jobs there are."""

    assignments: Mapping[str, Assignment]
    generations: Mapping[str, Generation]
    workers: Mapping[str, list[Worker]]


def live_jobs(processes: Processes, around: ClusterRecords | None = None) -> tuple[LiveJob, ...]:
    """Jobs that hold GPUs or want some, in the order they were submitted, read in one pass.

    Of jobs that did not change the same views come again, or with no more than what moves in them.
    """
    around = around or ClusterRecords()
    versions = live_versions()
    views = {
        job_id: _with_pools_of_now(view, around)
        for job_id, view in _seen.unchanged(versions, processes).items()
    }
    changed = [job_id for job_id in versions if job_id not in views]
    views |= {view.id: view for view in job_views(changed, processes, around)}
    in_order = tuple(views[job_id] for job_id in versions if job_id in views)
    _seen.remember(in_order, versions)
    return in_order


def job_views(
    job_ids: Collection[str], processes: Processes, around: ClusterRecords | None = None
) -> tuple[LiveJob, ...]:
    """The jobs in the given order, in four statements and those of `around`; unknown are left out.

    One whose spec cannot be read is there, too: it may hold GPUs, and has to be looked after.
    """
    if not job_ids:
        return ()
    around = around or ClusterRecords()
    found = Job.objects.defer("resolved_spec", *UNREAD_OF_JOBS)
    jobs = found.annotate(stored_spec=Cast("resolved_spec", TextField())).in_bulk(job_ids)
    for job in jobs.values():
        _put(job, "team", around.teams.get(job.team_id))
        _put(job, "pool", around.pools.get(job.pool_id))
    rows = _rows([job.id for job in jobs.values() if not has_only_waited(job)], around)
    known = [jobs[job_id] for job_id in job_ids if job_id in jobs]
    return tuple(_view(job, rows, processes, around) for job in known)


def _with_pools_of_now(view: LiveJob, around: ClusterRecords) -> LiveJob:
    """Return a view of before with the other pools in which its job may be by now.

    Its version covers the pool of its row alone, and an admin may have changed any other.
    """
    if not view.spec.pools:
        return view
    others = around.other_pools(view.job, view.spec.pools)
    if [*map(_read_of, others)] == [*map(_read_of, view.other_pools)]:
        return view
    return replace(view, other_pools=others, likeness=object())


def _read_of(pool: Pool) -> tuple[object, ...]:
    """Return all that is read of another pool; pools are equal as soon as they are the same row."""
    return pool.pk, pool.name, pool.gpu_type, pool.all_reduce


def _put(row: Model, name: str, related: Model | None) -> None:
    """Django looks up by itself what came into being after the others were read."""
    if related is not None:
        setattr(row, name, related)


def _view(job: Job, rows: Rows, processes: Processes, around: ClusterRecords) -> LiveJob:
    stored = _specs.read(job.id, job.stored_spec)  # type: ignore[attr-defined] # annotated
    return LiveJob(
        job=job,
        spec=stored.spec,
        other_pools=around.other_pools(job, stored.spec.pools or ()),
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


def _rows(job_ids: Collection[str], around: ClusterRecords) -> Rows:
    if not job_ids:
        return Rows(assignments={}, generations={}, workers={})
    newest = (
        Assignment.objects.filter(job__in=job_ids)
        .order_by("job_id", "-revision")
        .distinct("job_id")
    )
    last = Generation.objects.filter(job__in=job_ids).order_by("job_id", "-number")
    workers: dict[str, list[Worker]] = {}
    relevant = ~Q(phase=WorkerPhase.GONE) | Q(attempt=F("job__attempt"))
    rows = Worker.objects.filter(relevant, job__in=job_ids).defer(*UNREAD_OF_WORKERS)
    for row in rows.order_by("created_at", "id"):
        _put(row, "node", around.nodes.get(row.node_id) if row.node_id else None)
        workers.setdefault(row.job_id, []).append(row)
    return Rows(
        assignments={assignment.job_id: assignment for assignment in newest},
        generations={one.job_id: one for one in last.distinct("job_id").defer("message")},
        workers=workers,
    )
