"""What is done for jobs in a tick? Rules are applied to each until none has anything to do.

All jobs go on side by side: in each round every job is looked at once, and those that changed are
read anew together. So a tick asks as much for many jobs that change as for one. Jobs at rest are
not looked at again before something changes, or is due.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from autoscaler.control_loop.carry_out.error_notice import bear
from autoscaler.control_loop.carry_out.instructions.dispatch import RuleInstructions, carry_out
from autoscaler.control_loop.carry_out.writing import NotNow
from autoscaler.control_loop.observe.for_rules.answers import answer
from autoscaler.control_loop.observe.for_rules.rest import RestMemory
from autoscaler.control_loop.observe.for_rules.snapshots import snapshot_of
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.observe.jobs.views import job_views
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.reconciling.instructions import Instructions, change_the_job
from autoscaler.reconciling.questions import Unanswered
from autoscaler.reconciling.snapshot import JobSnapshot, RefusedProcesses
from autoscaler.reconciling.table import Rule, rules_for

_MOST_LOOKS: Final = 20  # more changes than one job can need at once

_log = logging.getLogger(__name__)
_rest: Final = RestMemory()


def reconcile_all(views: Iterable[LiveJob], context: TickContext) -> dict[str, LiveJob | None]:
    """Do as `reconcile` for all jobs that may hold GPUs, except those known to be at rest.

    Raises:
        LeaseLost: another process ticks.
        OperationalError: the database went away.
    """
    return reconcile(_rest.restless(views, context), context)


def reconcile(views: Iterable[LiveJob], context: TickContext) -> dict[str, LiveJob | None]:
    """Do all that is to be done for these jobs; returns those that changed, as they are now.

    None stands for a job that was deleted. One whose data breaks a rule is noted and left for the
    next tick: it must not stop the others. Nor must one whose node has just become silent, or
    whose row somebody holds.

    Raises:
        LeaseLost: another process ticks.
        OperationalError: the database went away.
    """
    changed: dict[str, LiveJob | None] = {}
    restless = list(views)
    for _ in range(_MOST_LOOKS):
        moved = _look_at(restless, context)
        if not moved:
            return changed
        restless = list(job_views(moved, context.processes, context.around))
        changed |= dict.fromkeys(moved) | {view.id: view for view in restless}
    for view in restless:
        extra = {"action": "reconcile", "job_id": view.id}
        _log.error("A job does not come to rest.", extra=extra)
    return changed


def _look_at(views: Iterable[LiveJob], context: TickContext) -> list[str]:
    """Look at each job once, up to the first rule that changes it; returns those that changed."""
    moved: list[str] = []
    looks = [_JobReconciliation(view=view, context=context) for view in views]
    while looks:
        given = {look: found for look in looks if (found := _guarded(look)) is not None}
        outcomes = carry_out(list(given.values()), context)
        looks = []
        for look, one in given.items():
            outcome = outcomes.get(one.view.id)
            if isinstance(outcome, Exception) and not isinstance(outcome, NotNow):
                bear(outcome, job_id=one.view.id, action="reconcile", context=context)
            elif outcome is None and change_the_job(one.instructions):
                moved.append(one.view.id)
            else:
                look.go_on(outcome)
                looks.append(look)
    return moved


def _guarded(look: _JobReconciliation) -> RuleInstructions | None:
    """What the next rule gives; None: there is no more, or the job's data break a rule."""
    try:
        return look.next()
    except Exception as problem:  # noqa: BLE001 - raised again if it concerns more than this job
        bear(problem, job_id=look.view.id, action="reconcile", context=look.context)
        return None


@dataclass(slots=True, kw_only=True, eq=False)
class _JobReconciliation:
    """One look at a job: the rules that hold for it, one after the other."""

    view: LiveJob
    context: TickContext
    _snapshot: JobSnapshot | None = None
    _rules: list[Rule] = field(default_factory=list)

    def next(self) -> RuleInstructions | None:
        """What the next rule gives that has anything to do; None: there is no such rule."""
        if self._snapshot is None:
            self._snapshot = snapshot_of(self.view, self.context)
            is_at_rest = _rest.is_at_rest(self.view, self._snapshot)
            self._rules = [] if is_at_rest else list(rules_for(self._snapshot))
        while self._rules:
            if found := self._instructions_of(self._rules[0], self._snapshot):
                return RuleInstructions(view=self.view, instructions=found)
            del self._rules[0]
        return None

    def go_on(self, outcome: RefusedProcesses | Exception | None) -> None:
        """The rule decides anew after a refusal, knowing it; else it is the turn of the next."""
        if isinstance(outcome, RefusedProcesses) and self._snapshot is not None:
            self._snapshot = replace(self._snapshot, refused=outcome)
        else:
            del self._rules[0]

    def _instructions_of(self, rule: Rule, snapshot: JobSnapshot) -> Instructions:
        """Return what the rule gives, once it knows all that it asks for."""
        while True:
            try:
                return rule(snapshot)
            except Unanswered as missing:
                found = answer(missing.question, self.view, self.context)
                snapshot = replace(snapshot, answers={**snapshot.answers, missing.question: found})
                self._snapshot = snapshot


def as_they_are(
    views: Mapping[str, LiveJob], changed: Mapping[str, LiveJob | None]
) -> dict[str, LiveJob]:
    """Return the views, with those that changed in the place of what they were."""
    now = ((job_id, changed.get(job_id, view)) for job_id, view in views.items())
    return {job_id: view for job_id, view in now if view is not None}
