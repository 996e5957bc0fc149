"""What happened to a job? One row per happening, written in the transaction that made it so.

Events are for people. What the service itself has to know later stands in columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autoscaler.job_vocabulary import EventKind, JobReason, StoredReason
from jobs.models import Event


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
    Event.objects.create(
        job_id=job_id,
        kind=kind,
        old_state=old_state,
        new_state=new_state,
        reason=reason or "",
        message=message,
        data=dict(data or {}),
    )


def record_of_several(
    messages: Mapping[str, str], *, kind: EventKind, reason: JobReason | None = None
) -> None:
    """Write one event of each of these jobs, by their ids; one statement."""
    Event.objects.bulk_create(
        Event(job_id=job_id, kind=kind, reason=reason or "", message=message)
        for job_id, message in sorted(messages.items())
    )
