"""In which order are a plan's decisions carried out? Who gives first, who takes afterwards.

A start or a grow takes only GPUs that nobody claims. What does not fit yet is not forgotten: the
next plan, asked for as soon as a worker has ended, decides it again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from django.db import InterfaceError, OperationalError

from autoscaler.control_loop.carry_out.decisions.drop import drop
from autoscaler.control_loop.carry_out.decisions.explain import explain, explain_all
from autoscaler.control_loop.carry_out.decisions.pause import pause
from autoscaler.control_loop.carry_out.decisions.rescale import rescale, takes_gpus
from autoscaler.control_loop.carry_out.decisions.start import start
from autoscaler.control_loop.carry_out.error_notice import note_error
from autoscaler.control_loop.lease.exclusive import Overtaken
from autoscaler.control_loop.observe.jobs.job_view import JobView
from autoscaler.control_loop.patience import is_given_up
from autoscaler.control_loop.plan.explained import ExplainedDecision
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.planning.decisions.plan import Action
from jobs.models import Job

Verb = Callable[[JobView, ExplainedDecision, TickContext], bool]

_VERBS: Final[Mapping[Action, Verb]] = {
    Action.DROP: drop,
    Action.PAUSE: pause,
    Action.RESCALE: rescale,
    Action.START: start,
}

_log = logging.getLogger(__name__)


def apply_plan(
    decisions: Sequence[ExplainedDecision], views: Mapping[str, JobView], context: TickContext
) -> list[ExplainedDecision]:
    """Carry out what can be carried out now; returns the decisions that changed something."""
    _explain(decisions, views, context)
    return [
        decision
        for decision in _givers_first(decisions, views)
        if _attempt(_VERBS[decision.action], views[decision.job_id], decision, context)
    ]


def _explain(
    decisions: Sequence[ExplainedDecision], views: Mapping[str, JobView], context: TickContext
) -> None:
    """All at once; should that fail, one by one, so that one job keeps only its own words back."""
    try:
        explain_all(decisions, views, context)
    except (Overtaken, InterfaceError):
        raise
    except Exception:  # noqa: BLE001 - a broken connection is met again at once
        _log.warning(
            "Decisions are written one by one.", exc_info=True, extra={"action": "explain"}
        )
        for decision in decisions:
            _attempt(explain, views[decision.job_id], decision, context)


def _givers_first(
    decisions: Iterable[ExplainedDecision], views: Mapping[str, JobView]
) -> list[ExplainedDecision]:
    changing = [decision for decision in decisions if decision.action in _VERBS]
    return sorted(changing, key=lambda decision: _takes(decision, views[decision.job_id]))


def _takes(decision: ExplainedDecision, view: JobView) -> bool:
    if decision.action is Action.RESCALE and decision.allocation is not None:
        return takes_gpus(view, decision.allocation)
    return decision.action is Action.START


def _attempt(verb: Verb, view: JobView, decision: ExplainedDecision, context: TickContext) -> bool:
    """One job whose data breaks a rule must not stop the others."""
    try:
        return verb(view, decision, context)
    except OperationalError as error:
        if is_given_up(error, job_id=view.id, action=decision.action):
            return False
        raise
    except (Overtaken, InterfaceError):
        raise
    except Job.DoesNotExist:
        extra = {"action": decision.action, "job_id": view.id}
        _log.info("A job was deleted before its decision was applied.", extra=extra)
        return False
    except Exception:  # noqa: BLE001 - whatever it is, the others go on
        extra = {"action": decision.action, "job_id": view.id}
        _log.exception("A decision could not be applied.", extra=extra)
        note_error(view.id, context)
        return False
