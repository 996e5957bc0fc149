"""How is each decision put into words? All at once, and no job keeps back those of others."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.plan.explained import ExplainedDecision
from autoscaler.control_loop.plan.last_said import LastSaid
from autoscaler.control_loop.plan.turns import told_now
from autoscaler.planning.decisions.plan import Action, Decision, Plan

_log = logging.getLogger(__name__)
_last_said: Final = LastSaid()


def explained_decisions(
    plan: Plan,
    views: Mapping[str, LiveJob],
    *,
    left_out: Collection[str],
    on_trial: Collection[str] = (),
    shows_others: bool = True,
) -> tuple[list[ExplainedDecision], dict[str, Exception]]:
    """The decisions that can be put into words, and of the other jobs the error they make.

    Of jobs that are left out nothing is known but what they hold: they can only be told to pause.
    Of those that go on waiting some are told anew, the others in one of the next ticks: see
    `turns`. So are those that keep what they have: see `last_said`. Those on trial are told, for it
    may be their words that cannot be made.
    """
    telling = _TickExplanations(plan=plan, views=views, shows_others=shows_others)
    going_on: dict[str, Decision] = {}
    for decision in plan.decisions:
        view = views.get(decision.job_id)
        is_silent = decision.job_id in left_out and decision.action is not Action.PAUSE
        if view is None or is_silent:
            continue
        if view.id in on_trial:
            telling.tell(decision, may_wait=False)
        elif _last_said.goes_on(decision, view):
            going_on[view.id] = decision
        else:
            telling.tell(decision)
    for decision in _last_said.whose_turn_it_is(list(going_on.values())):
        telling.tell(decision)
    for one in told_now(telling.new, views):
        telling.put_into_words(one)
    said = ((one, views[one.job_id]) for one in telling.explained)
    _last_said.remember(said, going_on.keys() - telling.failing.keys())
    return telling.explained, telling.failing


@dataclass(slots=True, kw_only=True)
class _TickExplanations:
    """What is said in this tick so far."""

    plan: Plan
    views: Mapping[str, LiveJob]
    shows_others: bool  # False: no team is told of others
    explained: list[ExplainedDecision] = field(default_factory=list)
    new: list[ExplainedDecision] = field(default_factory=list)  # of jobs that go on waiting
    failing: dict[str, Exception] = field(default_factory=dict)

    def tell(self, decision: Decision, *, may_wait: bool = True) -> None:
        """Put it into words, if these are not there already, and it is none that may wait."""
        with _blamed_on(decision.job_id, self.failing):
            team = self.views[decision.job_id].job.team.name
            made = ExplainedDecision.of(
                decision, self.plan, team=team, shows_others=self.shows_others
            )
            one = _last_said.unless_new(made)
            if may_wait and one is made and one.action is Action.WAIT:
                self.new.append(one)
            else:
                self.put_into_words(one)

    def put_into_words(self, one: ExplainedDecision) -> None:
        with _blamed_on(one.job_id, self.failing):
            one.put_into_words()
            self.explained.append(one)


@contextmanager
def _blamed_on(job_id: str, failing: dict[str, Exception]) -> Iterator[None]:
    """Blame the job for whatever goes wrong, so that the others go on."""
    try:
        yield
    except Exception as error:  # noqa: BLE001
        extra = {"action": "explain", "job_id": job_id}
        _log.exception("A decision cannot be explained.", extra=extra)
        failing[job_id] = error
