"""What happened to a job? Each event is a row, written in the transaction that made it so.

Events are for people. Whatever the service itself has to know later is in columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from autoscaler.job_vocabulary import EventKind, JobReason, StoredReason
from jobs.models import Event

Unwritten: TypeAlias = Event  # as `new` makes it, and `record_all` takes it


def record(
    *,
    job_id: str,
    kind: EventKind,
    reason: JobReason | StoredReason | None = None,
    message: str = "",
    old_state: str = "",
    new_state: str = "",
    data: Mapping[str, Any] | None = None,
) -> None:
    """Write an event. Call it inside the transaction of the change it tells of."""
    new(
        job_id=job_id,
        kind=kind,
        reason=reason,
        message=message,
        old_state=old_state,
        new_state=new_state,
        data=data,
    ).save()


def new(
    *,
    job_id: str,
    kind: EventKind,
    reason: JobReason | StoredReason | None = None,
    message: str = "",
    old_state: str = "",
    new_state: str = "",
    data: Mapping[str, Any] | None = None,
) -> Event:
    """An event that is not written yet: see `record_all`."""
    return Event(
        job_id=job_id,
        kind=kind,
        reason=reason or "",
        message=message,
        old_state=old_state,
        new_state=new_state,
        data=dict(data or {}),
    )


def record_all(events: Iterable[Event]) -> None:
    """Write them in this order, in one statement; none where there are none."""
    Event.objects.bulk_create(events)
