"""What is done for one job in a tick? Its rules are applied until none has anything to do."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import timedelta
from typing import Final

from cluster.worker_host import HostUnavailable
from django.db import Error, InterfaceError, OperationalError
from django.db.models import Q

from autoscaler.control_loop.assignments import NotNow
from autoscaler.control_loop.carry_out.instructions import carry_out
from autoscaler.control_loop.exclusive import Overtaken
from autoscaler.control_loop.job_view import JobView
from autoscaler.control_loop.observe.answers import answer
from autoscaler.control_loop.observe.snapshots import snapshot_of
from autoscaler.control_loop.observe.views import job_views
from autoscaler.control_loop.patience import is_given_up
from autoscaler.control_loop.shell import Shell
from autoscaler.job_vocabulary import EventKind
from autoscaler.reconciling.instructions import Instructions, change_the_job
from autoscaler.reconciling.questions import Unanswered
from autoscaler.reconciling.snapshot import JobSnapshot
from autoscaler.reconciling.table import Rule, rules_for
from jobs.changes import events
from jobs.models import Job

_MOST_LOOKS: Final = 20  # more changes than one job can need at once
_BETWEEN_ERROR_EVENTS: Final = timedelta(seconds=60)

_log = logging.getLogger(__name__)


def reconcile_job(view: JobView, shell: Shell) -> bool:
    """Do all that is to be done for one job; True when anything changed.

    A job whose data breaks a rule is noted and left for the next tick: it must not stop the
    others. Nor must one whose node has just become silent, or whose row somebody holds.

    Raises:
        Overtaken: another process ticks.
        OperationalError: the database went away.
    """
    try:
        return _reconcile(view, shell)
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

    A job that was deleted has no people who could read it.

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
    now = shell.now
    is_news = Q(error_notice_at=None) | Q(error_notice_at__lte=now - _BETWEEN_ERROR_EVENTS)
    if Job.objects.filter(is_news, pk=job_id).update(error_notice_at=now):
        message = (
            "The control loop could not handle this job and tries again."
            " An admin finds the cause in the log of control, under the job's id."
        )
        events.record(job_id=job_id, kind=EventKind.CONTROL_LOOP_ERROR, message=message)


def _reconcile(view: JobView, shell: Shell) -> bool:
    for looks in range(_MOST_LOOKS):
        if not _Look(view, shell).changes_the_job():
            return looks > 0
        views = job_views([view.id], shell.processes)
        if not views:  # deleted meanwhile
            return True
        (view,) = views
    _log.error("A job does not come to rest.", extra={"action": "attend", "job_id": view.id})
    return True


class _Look:
    """One look at a job: the rules that hold for it, up to the first that changes it."""

    def __init__(self, view: JobView, shell: Shell) -> None:
        self._view, self._shell = view, shell
        self._snapshot: JobSnapshot = snapshot_of(view, shell)

    def changes_the_job(self) -> bool:
        return any(self._apply(rule) for rule in rules_for(self._snapshot))

    def _apply(self, rule: Rule) -> bool:
        """True if the job is another now. After a refusal the rule decides anew, knowing it."""
        instructions = self._instructions_of(rule)
        try:
            refused = carry_out(instructions, self._view, self._shell)
        except NotNow:
            return False
        if refused is not None:
            self._snapshot = replace(self._snapshot, refused=refused)
            return self._apply(rule)
        return change_the_job(instructions)

    def _instructions_of(self, rule: Rule) -> Instructions:
        """What the rule gives, once it knows all that it asks for."""
        while True:
            try:
                return rule(self._snapshot)
            except Unanswered as missing:
                found = answer(missing.question, self._view, self._shell)
                answers = {**self._snapshot.answers, missing.question: found}
                self._snapshot = replace(self._snapshot, answers=answers)
