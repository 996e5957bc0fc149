"""What is done for jobs in a tick? Rules are applied to each until none has anything to do.

All jobs go on side by side: in each round every job is looked at once, and those that changed are
read anew together. So a tick asks as much for many jobs that change as for one.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from cluster.worker_host import HostUnavailable
from django.db import InterfaceError, OperationalError

from autoscaler.control_loop.carry_out.assignments import NotNow
from autoscaler.control_loop.carry_out.error_notice import note_error
from autoscaler.control_loop.carry_out.instructions.dispatch import carry_out
from autoscaler.control_loop.lease.exclusive import Overtaken
from autoscaler.control_loop.observe.for_rules.answers import answer
from autoscaler.control_loop.observe.for_rules.snapshots import snapshot_of
from autoscaler.control_loop.observe.jobs.job_view import JobView
from autoscaler.control_loop.observe.jobs.views import job_views
from autoscaler.control_loop.patience import is_given_up
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.reconciling.instructions import Instructions, change_the_job
from autoscaler.reconciling.questions import Unanswered
from autoscaler.reconciling.snapshot import JobSnapshot
from autoscaler.reconciling.table import Rule, rules_for
from jobs.models import Job

_MOST_LOOKS: Final = 20  # more changes than one job can need at once

_log = logging.getLogger(__name__)


def reconcile(views: Iterable[JobView], context: TickContext) -> dict[str, JobView | None]:
    """Do all that is to be done for these jobs; returns those that changed, as they are now.

    None stands for a job that was deleted. One whose data breaks a rule is noted and left for the
    next tick: it must not stop the others. Nor must one whose node has just become silent, or
    whose row somebody holds.

    Raises:
        Overtaken: another process ticks.
        OperationalError: the database went away.
    """
    changed: dict[str, JobView | None] = {}
    restless = list(views)
    for _ in range(_MOST_LOOKS):
        moved = [view.id for view in restless if _changes(view, context)]
        if not moved:
            return changed
        restless = list(job_views(moved, context.processes, context.around))
        changed |= dict.fromkeys(moved) | {view.id: view for view in restless}
    for view in restless:
        extra = {"action": "reconcile", "job_id": view.id}
        _log.error("A job does not come to rest.", extra=extra)
    return changed


def _changes(view: JobView, context: TickContext) -> bool:
    """Look at one job once; True if it is another now."""
    try:
        return _Look(view, context).changes_the_job()
    except OperationalError as error:
        if is_given_up(error, job_id=view.id, action="reconcile"):
            return False
        raise
    except (Overtaken, InterfaceError):
        raise
    except HostUnavailable as problem:
        extra = {"action": "reconcile", "job_id": view.id}
        _log.warning("A job waits for its node: %s", problem, extra=extra)
        return False
    except Job.DoesNotExist:
        _log.info("A job was deleted.", extra={"action": "reconcile", "job_id": view.id})
        return False
    except Exception:  # noqa: BLE001 - whatever it is, the others go on
        extra = {"action": "reconcile", "job_id": view.id}
        _log.exception("A job could not be reconciled.", extra=extra)
        note_error(view.id, context)
        return False


class _Look:
    """One look at a job: the rules that hold for it, up to the first that changes it."""

    def __init__(self, view: JobView, context: TickContext) -> None:
        self._view, self._context = view, context
        self._snapshot: JobSnapshot = snapshot_of(view, context)

    def changes_the_job(self) -> bool:
        return any(self._apply(rule) for rule in rules_for(self._snapshot))

    def _apply(self, rule: Rule) -> bool:
        """True if the job is another now. After a refusal the rule decides anew, knowing it."""
        instructions = self._instructions_of(rule)
        try:
            refused = carry_out(instructions, self._view, self._context)
        except NotNow:
            return False
        if refused is not None:
            self._snapshot = replace(self._snapshot, refused=refused)
            return self._apply(rule)
        return change_the_job(instructions)

    def _instructions_of(self, rule: Rule) -> Instructions:
        """Return what the rule gives, once it knows all that it asks for."""
        while True:
            try:
                return rule(self._snapshot)
            except Unanswered as missing:
                found = answer(missing.question, self._view, self._context)
                answers = {**self._snapshot.answers, missing.question: found}
                self._snapshot = replace(self._snapshot, answers=answers)


def as_they_are(
    views: Mapping[str, JobView], changed: Mapping[str, JobView | None]
) -> dict[str, JobView]:
    """Return the views, with those that changed in the place of what they were."""
    now = ((job_id, changed.get(job_id, view)) for job_id, view in views.items())
    return {job_id: view for job_id, view in now if view is not None}
