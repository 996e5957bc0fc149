"""How long did a worker host take to start processes of a job?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from django.utils import timezone
from tracing import sending
from tracing.spans import TraceSpan, place_of

from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.reconciling.instructions import HostInstruction, StartCoordinator, StartWorkers
from jobs.changes.state_spans import attributes_of, starting_place
from jobs.lifecycle import JobState


@contextmanager
def told(order: HostInstruction, view: LiveJob) -> Iterator[None]:
    """Tell how long it takes to carry out the order, if it is a start."""
    is_start = isinstance(order, StartCoordinator | StartWorkers)
    if not is_start or not view.job.trace or not sending.is_on():
        yield
        return
    began_at, error = timezone.now(), ""
    try:
        yield
    except Exception as problem:
        error = type(problem).__name__
        raise
    finally:
        sending.send(*_spans(order, view, began_at, error))


def _spans(
    order: HostInstruction, view: LiveJob, began_at: datetime, error: str
) -> Iterator[TraceSpan]:
    """A span in that of the job's start, or beside it for what is started later."""
    submission = place_of(view.job.trace)
    is_first = view.state == JobState.STARTING
    parent = starting_place(view.job, starts=view.job.starts) if is_first else submission
    if submission is None or parent is None:
        return
    workers = len(order.workers) if isinstance(order, StartWorkers) else 0
    name = "start workers" if workers else "start coordinator"
    yield TraceSpan(
        name=name,
        place=submission.beside(view.id, name, began_at.isoformat()),
        parent=parent,
        began_at=began_at,
        ended_at=timezone.now(),
        attributes=attributes_of(view.job) | ({"concertina.workers": workers} if workers else {}),
        error=error,
    )
