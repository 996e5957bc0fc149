"""How is written down what a job should run with? As the next revision of its assignment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from autoscaler.control_loop.carry_out.writing import JobDraft, NotNow
from autoscaler.control_loop.observe.jobs.arrangements import Arrangement, arrangement_of, columns
from autoscaler.control_loop.observe.jobs.job_view import LiveJob, WorkerView, ids
from autoscaler.job_vocabulary import JobReason
from jobs.models import Assignment


def assign(
    view: LiveJob,
    draft: JobDraft,
    worker_ids: Sequence[str],
    *,
    global_batch_size: int,
    reason: JobReason,
    message: str,
    message_for_admins: str = "",
    decision: Mapping[str, Any],
    arrangement: Arrangement,
    attempt: int | None = None,
) -> None:
    """Draft the next revision. Warm workers that are not part of it are leaving from now on.

    Raises:
        NotNow: somebody else wrote it.
    """
    if draft.job.revision != view.job.revision:
        raise NotNow
    revision = view.job.revision + 1
    draft.set(revision=revision)
    draft.staying = worker_ids
    draft.changes_wishes = True
    draft.assignments.append(
        Assignment(
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
    )


def go_on_with(
    view: LiveJob, draft: JobDraft, staying: Sequence[WorkerView], *, message: str
) -> None:
    """Assign the members that are left of the newest assignment, as `assign` does."""
    assert view.assignment is not None  # noqa: S101 - its members are
    assign(
        view,
        draft,
        ids(staying),
        global_batch_size=batch_for(view, len(staying), view.assignment.global_batch_size),
        reason=JobReason.NODE_LOST,
        message=message,
        decision=view.assignment.decision,
        arrangement=replace(arrangement_of(view.assignment), replaces=None),
    )


def batch_for(view: LiveJob, workers: int, wished: int) -> int:
    """The wished batch, or the nearest smaller one that so many workers can hold."""
    bounds = view.spec.batch.bounds()
    if bounds.has_accumulation or bounds.max_per_worker is None:
        return wished
    fits = min(wished, bounds.max_per_worker * workers)
    return max(fits - fits % bounds.multiple_of, 1)
