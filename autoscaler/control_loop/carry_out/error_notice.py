"""What do people read of a job that the loop could not handle? One event, at most once a minute."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Final

from cluster.worker_host import HostUnavailable
from django.db import Error, InterfaceError, OperationalError
from django.db.models import Q

from autoscaler.control_loop.database_timeouts import is_given_up
from autoscaler.control_loop.lease.exclusive import LeaseLost
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.job_vocabulary import EventKind
from jobs.changes import events
from jobs.models import Job

_BETWEEN_EVENTS: Final = timedelta(seconds=60)

_log = logging.getLogger(__name__)


def bear(problem: Exception, *, job_id: str, action: str, context: TickContext) -> None:
    """Note what went wrong with one job, so that the others go on; raise what concerns them all.

    Raises:
        LeaseLost: another process ticks.
        OperationalError: the database went away.
        InterfaceError: so it did.
    """
    extra = {"action": action, "job_id": job_id}
    if isinstance(problem, OperationalError):
        if not is_given_up(problem, job_id=job_id, action=action):
            raise problem
    elif isinstance(problem, LeaseLost | InterfaceError):
        raise problem
    elif isinstance(problem, HostUnavailable):
        _log.warning("A job waits for its node: %s", problem, extra=extra)
    elif isinstance(problem, Job.DoesNotExist):
        _log.info("A job was deleted meanwhile.", extra=extra)
    else:
        _log.error("A job could not be handled.", exc_info=problem, extra=extra)
        note_error(job_id, context)


def note_error(job_id: str, context: TickContext) -> None:
    """Tell the job's people, at most once a minute; the error itself is in the log, for admins.

    A job that was deleted has no people who could read it.

    Raises:
        LeaseLost: another process ticks.
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
