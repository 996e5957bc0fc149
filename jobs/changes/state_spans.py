"""How long was a job in the state that it leaves? A span for the trace of its submission.

Whoever moves a job tells it, in whichever process that is: the row says in whose trace.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.db.models.functions import Now
from django.utils import timezone
from tracing import sending
from tracing.spans import SpanPlace, SpanValue, TraceSpan, place_of

from autoscaler.job_vocabulary import JobReason, StoredReason
from jobs.lifecycle import JobState
from jobs.models import Job

COLUMNS: Final = ("trace", "state_since", "submitted_at", "pool", "starts")
"""Of a job's row, that have to be read for its spans."""
_NUMBERS: Final = ("revision", "generation", "stall_seconds", "transfer_seconds", "lost_steps")


def span_of(
    job: Job,
    new: JobState,
    *,
    at: datetime | Now,
    reason: JobReason | StoredReason,
    data: Mapping[str, Any] | None = None,
) -> TraceSpan | None:
    """Return the span of the state that a job leaves; None: nobody traces it."""
    if not job.trace or not sending.is_on():
        return None
    submission = place_of(job.trace)
    if submission is None:
        return None
    began_at = job.state_since or job.submitted_at
    return TraceSpan(
        name=str(job.state),
        place=_place(submission, job, began_at),
        parent=submission,
        began_at=began_at,
        ended_at=at if isinstance(at, datetime) else timezone.now(),
        attributes={**attributes_of(job), "concertina.next_state": str(new)}
        | {"concertina.reason": str(reason)}
        | {f"concertina.{name}": data[name] for name in _NUMBERS if data and name in data},
        error=str(reason) if new is JobState.FAILED else "",
    )


def attributes_of(job: Job) -> dict[str, SpanValue]:
    """Return what each span of a job says: ids alone, nothing of what its people wrote."""
    return {"concertina.job": job.id, "concertina.pool_id": job.pool_id}


def starting_place(job: Job, *, starts: int) -> SpanPlace | None:
    """Return where the span of a job's start is going to be, before it is over."""
    submission = place_of(job.trace)
    return submission and submission.beside(job.id, JobState.STARTING, starts)


def _place(submission: SpanPlace, job: Job, began_at: datetime) -> SpanPlace:
    if job.state == JobState.STARTING:
        return submission.beside(job.id, JobState.STARTING, job.starts)
    return submission.beside(job.id, job.state, began_at.isoformat())
