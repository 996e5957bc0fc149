"""Which one change would start a waiting job now? The first that the planner says would.

A remedy is a promise, so each is tried: the snapshot with that change made, and nothing else, is
planned again, and the remedy is told only if the job starts in that plan. One that pauses nobody
goes before one that does. A plan costs about as much as its jobs; a search has a budget of them,
for all jobs together. Who asks beyond the budget is told nothing, rather than something that may
not be true.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.decisions.explanation import Remedy, RemedyKind, Waiting
from autoscaler.planning.decisions.plan import Action
from autoscaler.planning.explanations.changed_states import with_remedy
from autoscaler.planning.explanations.remedies import candidates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from autoscaler.planning.decisions.plan import Plan
    from autoscaler.planning.snapshot.cluster_state import ClusterState, PlannedJob

PLANNED_JOBS: Final = 5_000  # guessed: about a second
_COST_OF_A_PLAN: Final = 10  # in jobs: measured, a plan of one job takes as long as of ten more


@dataclass(kw_only=True)
class RemedySearch:
    """Finds remedies for the waiting jobs of one snapshot, with the planner that planned it."""

    state: ClusterState
    planned: Plan  # what the planner says of the state as it is
    planner: Callable[[ClusterState], Plan]
    planned_jobs: int = PLANNED_JOBS  # what is left of the budget
    _jobs: dict[str, PlannedJob] = field(init=False)

    def __post_init__(self) -> None:
        self._jobs = {job.job_id: job for job in self.state.jobs}

    def remedy_for(self, job_id: str) -> Remedy | None:
        """None: the job does not wait, waiting does not help it, or the budget is used up."""
        waiting = self.planned.explanations[job_id]
        if not isinstance(waiting, Waiting):
            return None
        if waiting.reason is JobReason.WAITING_FOR_RECLAIM and waiting.is_owed:
            return Remedy(kind=RemedyKind.PATIENCE)
        tries = tuple(candidates(self._jobs[job_id], waiting, self.state))
        if len(tries) * self._cost_of_a_try() > self.planned_jobs:
            return None
        return self._mildest(job_id, tries)

    def _mildest(self, job_id: str, tries: Iterable[Remedy]) -> Remedy:
        """The first that starts the job and pauses nobody; else the first that starts it."""
        found = Remedy(kind=RemedyKind.NONE)
        for one in tries:
            paused = self._paused_by(job_id, one)
            if paused == 0:
                return one
            if paused is not None and found.kind is RemedyKind.NONE:
                found = replace(one, paused_jobs=paused)
        return found

    def _paused_by(self, job_id: str, remedy: Remedy) -> int | None:
        """Return how many jobs are paused that else would not be; None: the job does not start."""
        self.planned_jobs -= self._cost_of_a_try()
        changed = self.planner(with_remedy(self.state, job_id, remedy))
        if job_id not in _those_to(Action.START, changed):
            return None
        return len(_those_to(Action.PAUSE, changed) - _those_to(Action.PAUSE, self.planned))

    def _cost_of_a_try(self) -> int:
        return len(self._jobs) + _COST_OF_A_PLAN


def _those_to(action: Action, planned: Plan) -> set[str]:
    return {decision.job_id for decision in planned.decisions if decision.action is action}
