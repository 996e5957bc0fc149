"""In which order are a plan's decisions carried out? Who gives first, who takes afterwards.

A start or a grow takes only GPUs that nobody claims. What does not fit yet is not forgotten: the
next plan, asked for as soon as a worker has ended, decides it again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from django.db import InterfaceError, OperationalError

from autoscaler.control_loop.apply.drop import drop
from autoscaler.control_loop.apply.explain import explain
from autoscaler.control_loop.apply.pause import pause
from autoscaler.control_loop.apply.rescale import rescale, takes_gpus
from autoscaler.control_loop.apply.start import start
from autoscaler.control_loop.exclusive import Overtaken
from autoscaler.control_loop.explained import ExplainedDecision
from autoscaler.control_loop.job_view import JobView
from autoscaler.control_loop.shell import Shell
from autoscaler.control_loop.upkeep.rounds import note_error
from autoscaler.planning.decisions import Action, Plan

Verb = Callable[[JobView, ExplainedDecision, Shell], bool]

_VERBS: Final[Mapping[Action, Verb]] = {
    Action.DROP: drop,
    Action.PAUSE: pause,
    Action.RESCALE: rescale,
    Action.START: start,
}

_log = logging.getLogger(__name__)


def apply_plan(plan: Plan, views: Mapping[str, JobView], shell: Shell) -> list[ExplainedDecision]:
    """Carry out what can be carried out now; returns the decisions that changed something."""
    decisions = [
        ExplainedDecision.of(decision, plan, team=views[decision.job_id].job.team.name)
        for decision in plan.decisions
        if decision.job_id in views
    ]
    for decision in decisions:
        _attempt(explain, views[decision.job_id], decision, shell)
    return [
        decision
        for decision in _givers_first(decisions, views)
        if _attempt(_VERBS[decision.action], views[decision.job_id], decision, shell)
    ]


def _givers_first(
    decisions: Iterable[ExplainedDecision], views: Mapping[str, JobView]
) -> list[ExplainedDecision]:
    changing = [decision for decision in decisions if decision.action in _VERBS]
    return sorted(changing, key=lambda decision: _takes(decision, views[decision.job_id]))


def _takes(decision: ExplainedDecision, view: JobView) -> bool:
    if decision.action is Action.RESCALE and decision.allocation is not None:
        return takes_gpus(view, decision.allocation)
    return decision.action is Action.START


def _attempt(verb: Verb, view: JobView, decision: ExplainedDecision, shell: Shell) -> bool:
    """One job whose data breaks a rule must not stop the others."""
    try:
        return verb(view, decision, shell)
    except (Overtaken, OperationalError, InterfaceError):
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, the others go on
        extra = {"action": decision.action, "job_id": view.id}
        _log.exception("A decision could not be applied.", extra=extra)
        note_error(view.id, error, shell)
        return False
