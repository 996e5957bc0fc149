"""How is written down what a job should run with? As the next revision of its assignment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from autoscaler.control_loop.observe.jobs.arrangements import Arrangement, arrangement_of, columns
from autoscaler.control_loop.observe.jobs.job_view import JobView, WorkerView, ids
from autoscaler.job_vocabulary import JobReason
from jobs.changes.wake_signal import announce_wanted
from jobs.models import Assignment, Job, Worker


class NotNow(Exception):
    """Somebody else changed the job, or a GPU it needs is not free yet."""


def assign(
    view: JobView,
    worker_ids: Sequence[str],
    *,
    global_batch_size: int,
    reason: JobReason,
    message: str,
    message_for_admins: str = "",
    decision: Mapping[str, Any],
    arrangement: Arrangement,
    attempt: int | None = None,
) -> bool:
    """Write the next revision, inside the caller's transaction; False: somebody else did.

    Warm workers that are not part of it are leaving from now on.
    """
    revision = view.job.revision + 1
    mine = Job.objects.filter(pk=view.id, revision=view.job.revision)
    if not mine.update(revision=revision):
        return False
    Assignment.objects.create(
        job_id=view.id,
        revision=revision,
        attempt=view.job.attempt if attempt is None else attempt,
        worker_ids=list(worker_ids),
        global_batch_size=global_batch_size,
        reason=reason,
        message=message,
        message_for_admins=message_for_admins,
        **columns(arrangement, decision),
    )
    others = Worker.objects.filter(job_id=view.id).exclude(pk__in=worker_ids)
    warm = {Worker.Phase.READY, Worker.Phase.TRAINING}
    others.filter(phase__in=warm).update(phase=Worker.Phase.LEAVING)
    announce_wanted(view.id)
    return True


def go_on_with(view: JobView, staying: Sequence[WorkerView], *, message: str) -> bool:
    """Assign the members that are left of the newest assignment, as `assign` does."""
    assert view.assignment is not None  # noqa: S101 - its members are
    return assign(
        view,
        ids(staying),
        global_batch_size=batch_for(view, len(staying), view.assignment.global_batch_size),
        reason=JobReason.NODE_LOST,
        message=message,
        decision=view.assignment.decision,
        arrangement=replace(arrangement_of(view.assignment), replaces=None),
    )


def batch_for(view: JobView, workers: int, wished: int) -> int:
    """The wished batch, or the nearest smaller one that so many workers can hold."""
    bounds = view.spec.batch.bounds()
    if bounds.has_accumulation or bounds.max_per_worker is None:
        return wished
    fits = min(wished, bounds.max_per_worker * workers)
    return max(fits - fits % bounds.multiple_of, 1)
