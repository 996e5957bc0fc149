"""Which events follow from a report? They are written together, a bounded number for each job.

A job that reports again and again that it lost a worker says nothing new, and would fill the table.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from autoscaler.job_vocabulary import EventKind, JobReason
from jobs.changes import events
from jobs.models import Event

MOST_AN_HOUR: Final = 100  # of one job; guessed: more losses than any training survives
_HOUR: Final = timedelta(hours=1)
_KINDS: Final = (
    EventKind.WORKERS_LOST,
    EventKind.WORK_LOST,
    EventKind.WORKER_HUNG,
    EventKind.STRAGGLER_FOUND,
    EventKind.SCRIPT_WARNING,
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ReportedEvents:
    """The events that follow from one report of a job."""

    job_id: str
    _told: list[Event] = field(default_factory=list)

    def add(
        self,
        kind: EventKind,
        *,
        reason: JobReason | None = None,
        message: str = "",
        data: Mapping[str, Any] | None = None,
    ) -> None:
        event = events.new(job_id=self.job_id, kind=kind, reason=reason, message=message, data=data)
        self._told.append(event)

    def write(self, now: datetime) -> None:
        """Write the events in the order of the report; those beyond the bound are dropped."""
        if not self._told:
            return
        recent = Event.objects.filter(job_id=self.job_id, kind__in=_KINDS, at__gt=now - _HOUR)
        room = max(MOST_AN_HOUR - recent.count(), 0)
        events.record_all(self._told[:room])
        if dropped := len(self._told[room:]):
            extra = {"action": "drop", "job_id": self.job_id}
            _log.warning("%d events of a report were too many.", dropped, extra=extra)
