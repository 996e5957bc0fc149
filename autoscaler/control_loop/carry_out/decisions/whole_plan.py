"""In which order are a plan's decisions carried out? Who gives first, who takes afterwards.

A start or a grow takes only GPUs that nobody claims. What does not fit yet is not forgotten: the
next plan, asked for as soon as a worker has ended, decides it again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from django.db import InterfaceError

from autoscaler.control_loop.carry_out.decisions.drop import drop
from autoscaler.control_loop.carry_out.decisions.explain import explain, explain_all
from autoscaler.control_loop.carry_out.decisions.needs import Needs
from autoscaler.control_loop.carry_out.decisions.pause import pause
from autoscaler.control_loop.carry_out.decisions.rescale import rescale, takes_gpus
from autoscaler.control_loop.carry_out.decisions.start import start
from autoscaler.control_loop.carry_out.error_notice import bear
from autoscaler.control_loop.carry_out.writing import Drafting, JobDraft, NotNow, write
from autoscaler.control_loop.lease.exclusive import LeaseLost
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.plan.explained import ExplainedDecision
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.planning.decisions.plan import Action

Verb = Callable[[LiveJob, ExplainedDecision, JobDraft, Needs, TickContext], None]

_VERBS: Final[Mapping[Action, Verb]] = {
    Action.DROP: drop,
    Action.PAUSE: pause,
    Action.RESCALE: rescale,
    Action.START: start,
}

_log = logging.getLogger(__name__)


def apply_plan(
    decisions: Sequence[ExplainedDecision], views: Mapping[str, LiveJob], context: TickContext
) -> list[ExplainedDecision]:
    """Carry out what can be carried out now; returns the decisions that changed something."""
    _explain(decisions, views, context)
    changing = {decision.job_id: decision for decision in _givers_first(decisions, views)}
    needs = Needs(changing.keys())
    outcomes = write(
        {job_id: _drafting(views[job_id], one, needs, context) for job_id, one in changing.items()},
        context,
        seats_on={
            node
            for one in changing.values()
            if one.allocation is not None
            for node, _ in one.allocation.workers_by_node
        },
    )
    for job_id, problem in outcomes.items():
        if problem is not None and not isinstance(problem, NotNow):
            bear(problem, job_id=job_id, action=changing[job_id].action, context=context)
    return [one for job_id, one in changing.items() if outcomes[job_id] is None]


def _drafting(
    view: LiveJob, decision: ExplainedDecision, needs: Needs, context: TickContext
) -> Drafting:
    def draft(draft: JobDraft) -> None:
        _VERBS[decision.action](view, decision, draft, needs, context)

    return draft


def _explain(
    decisions: Sequence[ExplainedDecision], views: Mapping[str, LiveJob], context: TickContext
) -> None:
    """All at once; should that fail, one by one, so that one job keeps only its own words back."""
    try:
        explain_all(decisions, views, context)
    except (LeaseLost, InterfaceError):
        raise
    except Exception:  # noqa: BLE001 - a broken connection is met again at once
        _log.warning(
            "Decisions are written one by one.", exc_info=True, extra={"action": "explain"}
        )
        for decision in decisions:
            _try_one(views[decision.job_id], decision, context)


def _givers_first(
    decisions: Iterable[ExplainedDecision], views: Mapping[str, LiveJob]
) -> list[ExplainedDecision]:
    changing = [decision for decision in decisions if decision.action in _VERBS]
    return sorted(changing, key=lambda decision: _takes(decision, views[decision.job_id]))


def _takes(decision: ExplainedDecision, view: LiveJob) -> bool:
    if decision.action is Action.RESCALE and decision.allocation is not None:
        return takes_gpus(view, decision.allocation)
    return decision.action is Action.START


def _try_one(view: LiveJob, decision: ExplainedDecision, context: TickContext) -> None:
    try:
        explain(view, decision, context)
    except Exception as problem:  # noqa: BLE001 - raised again if it concerns more than this job
        bear(problem, job_id=view.id, action="explain", context=context)
