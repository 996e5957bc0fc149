"""How is each decision put into words? All at once, and no job keeps back those of others."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from autoscaler.control_loop.observe.jobs.job_view import JobView
from autoscaler.control_loop.plan.explained import ExplainedDecision
from autoscaler.control_loop.plan.last_said import LastSaid
from autoscaler.control_loop.plan.turns import told_now
from autoscaler.planning.decisions.plan import Action, Plan

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
    """Blame the job for whatever goes wrong, so that the others go on."""
    try:
        yield
    except Exception as error:  # noqa: BLE001
        extra = {"action": "explain", "job_id": job_id}
        _log.exception("A decision cannot be explained.", extra=extra)
        failing[job_id] = error
