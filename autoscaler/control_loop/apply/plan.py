"""In which order are a plan's decisions carried out? Who gives first, who takes afterwards.

A start or a grow takes only GPUs that nobody claims. What does not fit yet is not forgotten: the
next plan, asked for as soon as a worker has ended, decides it again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from django.db import InterfaceError, OperationalError

from autoscaler.control_loop.apply.drop import drop
from autoscaler.control_loop.apply.explain import explain, explain_all
from autoscaler.control_loop.apply.pause import pause
from autoscaler.control_loop.apply.rescale import rescale, takes_gpus
from autoscaler.control_loop.apply.start import start
from autoscaler.control_loop.apply.turns import told_now
from autoscaler.control_loop.exclusive import Overtaken
from autoscaler.control_loop.explained import ExplainedDecision
from autoscaler.control_loop.job_view import JobView
from autoscaler.control_loop.patience import is_given_up
from autoscaler.control_loop.reconcile_job import note_error
from autoscaler.control_loop.remembering.words import LastSaid
from autoscaler.control_loop.shell import Shell
from autoscaler.planning.decisions.plan import Action, Plan
from jobs.models import Job

Verb = Callable[[JobView, ExplainedDecision, Shell], bool]

_VERBS: Final[Mapping[Action, Verb]] = {
    Action.DROP: drop,
    Action.PAUSE: pause,
    Action.RESCALE: rescale,
    Action.START: start,
}

_log = logging.getLogger(__name__)
_last_said: Final = LastSaid()


def explained_decisions(
    plan: Plan,
    views: Mapping[str, JobView],
    *,
    left_out: Collection[str],
    on_trial: Collection[str] = (),
) -> tuple[list[ExplainedDecision], dict[str, Exception]]:
    """The decisions that can be put into words, and of the other jobs the error they make.

    Of jobs that are left out nothing is known but what they hold: they can only be told to pause.
    Of those that go on waiting some are told anew, the others in one of the next ticks: see
    `turns`. Those on trial are told, for it may be their words that cannot be made.
    """
    explained, new = list[ExplainedDecision](), list[ExplainedDecision]()
    failing = dict[str, Exception]()

    def put_into_words(one: ExplainedDecision) -> None:
        with _blamed_on(one.job_id, failing):
            one.put_into_words()
            explained.append(one)

    for decision in plan.decisions:
        view = views.get(decision.job_id)
        is_silent = decision.job_id in left_out and decision.action is not Action.PAUSE
        if view is None or is_silent:
            continue
        with _blamed_on(view.id, failing):
            made = ExplainedDecision.of(decision, plan, team=view.job.team.name)
            one = _last_said.unless_new(made)
            may_wait = one is made and one.action is Action.WAIT and view.id not in on_trial
            if may_wait:
                new.append(one)
            else:
                put_into_words(one)
    for one in told_now(new, views):
        put_into_words(one)
    _last_said.remember(explained)
    return explained, failing


@contextmanager
def _blamed_on(job_id: str, failing: dict[str, Exception]) -> Iterator[None]:
    """Whatever it is, the others go on."""
    try:
        yield
    except Exception as error:  # noqa: BLE001
        extra = {"action": "explain", "job_id": job_id}
        _log.exception("A decision cannot be explained.", extra=extra)
        failing[job_id] = error


def apply_plan(
    decisions: Sequence[ExplainedDecision], views: Mapping[str, JobView], shell: Shell
) -> list[ExplainedDecision]:
    """Carry out what can be carried out now; returns the decisions that changed something."""
    _explain(decisions, views, shell)
    return [
        decision
        for decision in _givers_first(decisions, views)
        if _attempt(_VERBS[decision.action], views[decision.job_id], decision, shell)
    ]


def _explain(
    decisions: Sequence[ExplainedDecision], views: Mapping[str, JobView], shell: Shell
) -> None:
    """All at once; should that fail, one by one, so that one job keeps only its own words back."""
    try:
        explain_all(decisions, views, shell)
    except (Overtaken, InterfaceError):
        raise
    except Exception:  # noqa: BLE001 - a broken connection is met again at once
        _log.warning(
            "Decisions are written one by one.", exc_info=True, extra={"action": "explain"}
        )
        for decision in decisions:
            _attempt(explain, views[decision.job_id], decision, shell)


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
        note_error(view.id, shell)
        return False
