"""What do people read of a job that the loop could not handle? One event, at most once a minute."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Final

from django.db import Error
from django.db.models import Q

from autoscaler.control_loop.tick_context import TickContext
from autoscaler.job_vocabulary import EventKind
from jobs.changes import events
from jobs.models import Job

_BETWEEN_EVENTS: Final = timedelta(seconds=60)

_log = logging.getLogger(__name__)


def note_error(job_id: str, context: TickContext) -> None:
    """Tell the job's people, at most once a minute; the error itself is in the log, for admins.

    A job that was deleted has no people who could read it.

    Raises:
        Overtaken: another process ticks.
    """
    try:
        with context.fence.transaction():
            _record_error(job_id, context)
    except Error:
        extra = {"action": "note_error", "job_id": job_id}
        _log.exception("A job's people could not be told of an error.", extra=extra)


def _record_error(job_id: str, context: TickContext) -> None:
    now = context.now
    is_news = Q(error_notice_at=None) | Q(error_notice_at__lte=now - _BETWEEN_EVENTS)
    if Job.objects.filter(is_news, pk=job_id).update(error_notice_at=now):
        message = (
            "The control loop could not handle this job and tries again."
            " An admin finds the cause in the log of control, under the job's id."
        )
        events.record(job_id=job_id, kind=EventKind.CONTROL_LOOP_ERROR, message=message)
