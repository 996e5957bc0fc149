"""In which order do the rules look at a job? Until none of them has anything left to do."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from cluster.worker_host import HostUnavailable
from django.db import Error, InterfaceError, OperationalError

from autoscaler.control_loop.exclusive import Overtaken
from autoscaler.control_loop.job_view import JobView
from autoscaler.control_loop.observe import job_views
from autoscaler.control_loop.patience import is_given_up
from autoscaler.control_loop.shell import Shell
from autoscaler.control_loop.upkeep import (
    disk,
    joining,
    launching,
    outcome,
    preparing,
    refusals,
    release,
    restart_mode,
    silent_nodes,
    slow_nodes,
    standstill,
    stopping,
)
from autoscaler.job_vocabulary import EventKind
from jobs import events
from jobs.models import Event, Job

Rule = Callable[[JobView, Shell], bool]

RULES: Final[tuple[Rule, ...]] = (
    release.release_ended_workers,
    refusals.give_up_what_cannot_start,
    refusals.give_up_what_is_always_killed,
    outcome.settle,
    disk.end_what_writes_too_much,
    disk.warn_of_a_filling_disk,
    joining.go_on_without_the_gone,
    preparing.tell_of_preparations,
    joining.give_up_preparations,
    joining.drop_late_joiners,
    joining.detect_mode,
    joining.kill_hung_workers,
    joining.give_up_stuck_changes,
    standstill.end_what_stands_still,
    slow_nodes.warn_of_slow_nodes,
    silent_nodes.warn_of_silent_nodes,
    silent_nodes.leave_the_lost_behind,
    restart_mode.seat_next_set,
    restart_mode.begin_generation,
    stopping.stop_workers,
    stopping.finish,
    launching.start_missing,
)
_MOST_ROUNDS: Final = 20  # more changes than one job can need at once
_BETWEEN_ERROR_EVENTS: Final = timedelta(seconds=60)

_log = logging.getLogger(__name__)


def attend(view: JobView, shell: Shell) -> bool:
    """Do all that is to be done for one job; True when anything changed.

    A job whose data breaks a rule is noted and left for the next tick: it must not stop the
    others. Nor must one whose node has just become silent, or whose row somebody holds.

    Raises:
        Overtaken: another process ticks.
        OperationalError: the database went away.
    """
    try:
        return _attend(view, shell)
    except OperationalError as error:
        if is_given_up(error, job_id=view.id, action="attend"):
            return False
        raise
    except (Overtaken, InterfaceError):
        raise
    except HostUnavailable as problem:
        extra = {"action": "attend", "job_id": view.id}
        _log.warning("A job waits for its node: %s", problem, extra=extra)
        return False
    except Job.DoesNotExist:
        _log.info("A job was deleted.", extra={"action": "attend", "job_id": view.id})
        return False
    except Exception:  # noqa: BLE001 - whatever it is, the others go on
        extra = {"action": "attend", "job_id": view.id}
        _log.exception("A job could not be attended to.", extra=extra)
        note_error(view.id, shell)
        return False


def note_error(job_id: str, shell: Shell) -> None:
    """Tell the job's people, at most once a minute; the error itself is in the log, for admins.

    A job that was deleted has nobody to be told.

    Raises:
        Overtaken: another process ticks.
    """
    try:
        with shell.fence.transaction():
            _record_error(job_id, shell)
    except Error:
        extra = {"action": "note_error", "job_id": job_id}
        _log.exception("A job's people could not be told of an error.", extra=extra)


def _record_error(job_id: str, shell: Shell) -> None:
    since = shell.now - _BETWEEN_ERROR_EVENTS
    recent = Event.objects.filter(job_id=job_id, kind=EventKind.CONTROL_LOOP_ERROR, at__gt=since)
    if not recent.exists():
        message = (
            "The control loop could not handle this job and tries again."
            " An admin finds the cause in the log of control, under the job's id."
        )
        events.record(job_id=job_id, kind=EventKind.CONTROL_LOOP_ERROR, message=message)


def _attend(view: JobView, shell: Shell) -> bool:
    for rounds in range(_MOST_ROUNDS):
        if not any(rule(view, shell) for rule in RULES):
            return rounds > 0
        views = job_views([view.id], shell.processes)
        if not views:  # deleted meanwhile
            return True
        (view,) = views
    _log.error("A job does not come to rest.", extra={"action": "attend", "job_id": view.id})
    return True
