"""What was said of each job last? If it is the same, its words are there already.

Of most jobs the same is decided tick after tick, for the same reason; to put that into words again
costs several times what it costs to see that it is the same. What is remembered may be lost.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Final

from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.plan.explained import ExplainedDecision
from autoscaler.planning.decisions.plan import Action, Decision

LEAST_IN_A_TICK: Final = 25  # of those that go on as they are
SHARE_IN_A_TICK: Final = 0.125  # or so many: the numbers of each are of the last eight ticks


@dataclass(frozen=True, slots=True, kw_only=True)
class _LastExplanation:
    explained: ExplainedDecision
    likeness: object  # of the job's view: its row may say something else since
    tick: int


class LastSaid:
    """The decisions of the last ticks, with all that was made of them."""

    def __init__(self) -> None:
        self._by_job: dict[str, _LastExplanation] = {}
        self._tick = 0

    def unless_new(self, decision: ExplainedDecision) -> ExplainedDecision:
        """The same decision as it was said last; itself, if it is another."""
        last = self._by_job.get(decision.job_id)
        return last.explained if last is not None and last.explained == decision else decision

    def goes_on(self, decision: Decision, view: LiveJob) -> bool:
        """True if the job keeps what it has, for the same reason as when that was said of it."""
        last = self._by_job.get(view.id)
        return (
            last is not None
            and decision.action is Action.KEEP
            and last.likeness is view.likeness
            and last.explained.decision == decision
        )

    def whose_turn_it_is(self, going_on: Sequence[Decision]) -> list[Decision]:
        """Return the decisions that go on and whose numbers were said longest ago."""
        most = max(LEAST_IN_A_TICK, round(SHARE_IN_A_TICK * len(going_on)))
        return nsmallest(most, going_on, key=lambda one: self._by_job[one.job_id].tick)

    def remember(
        self, said: Iterable[tuple[ExplainedDecision, LiveJob]], going_on: Collection[str]
    ) -> None:
        """Keep these, and what was said before of those that go on, and forget all others."""
        self._tick += 1
        kept = {job_id: self._by_job[job_id] for job_id in going_on}
        self._by_job = kept | {
            view.id: _LastExplanation(explained=one, likeness=view.likeness, tick=self._tick)
            for one, view in said
        }
