"""Which one change would start a waiting job now? The first that the planner says would.

A remedy is a promise, so each is tried: the snapshot with that change made, and nothing else, is
planned again, and the remedy is told only if the job starts in that plan. A plan costs about as
much as its jobs; a search has a budget of them, for all jobs together. Who asks beyond the budget
is told nothing, rather than something that may not be true.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from autoscaler.planning.decisions import Action, Reason
from autoscaler.planning.explanations.changed_states import with_remedy
from autoscaler.planning.explanations.remedies import candidates
from autoscaler.planning.explanations.values import Remedy, RemedyKind, Waiting

if TYPE_CHECKING:
    from collections.abc import Callable

    from autoscaler.planning.cluster_state import ClusterState, Job
    from autoscaler.planning.decisions import Plan
    from autoscaler.planning.explanations.values import Explanation

PLANNED_JOBS: Final = 1_000  # guessed: about a quarter of a second
_COST_OF_A_PLAN: Final = 10  # in jobs: measured, a plan of one job takes as long as of ten more


@dataclass(kw_only=True)
class RemedySearch:
    """Finds remedies for the waiting jobs of one snapshot, with the planner that planned it."""

    state: ClusterState
    planner: Callable[[ClusterState], Plan]
    planned_jobs: int = PLANNED_JOBS  # what is left of the budget
    _jobs: dict[str, Job] = field(init=False)

    def __post_init__(self) -> None:
        self._jobs = {job.job_id: job for job in self.state.jobs}

    def examined(self, job_id: str, explanation: Explanation) -> Explanation:
        """The explanation with its remedy; as it is where none is called for or affordable."""
        if not isinstance(explanation, Waiting):
            return explanation
        if explanation.reason is Reason.WAITING_FOR_RECLAIM and explanation.is_owed:
            return replace(explanation, remedy=Remedy(kind=RemedyKind.PATIENCE), is_examined=True)
        tries = tuple(candidates(self._jobs[job_id], explanation, self.state))
        if len(tries) * self._cost_of_a_try() > self.planned_jobs:
            return explanation
        remedy = next((one for one in tries if self._starts(job_id, one)), None)
        return replace(explanation, remedy=remedy, is_examined=True)

    def _starts(self, job_id: str, remedy: Remedy) -> bool:
        """Whether the job starts in the plan of the changed snapshot."""
        self.planned_jobs -= self._cost_of_a_try()
        decisions = self.planner(with_remedy(self.state, job_id, remedy)).decisions
        return any(one.job_id == job_id and one.action is Action.START for one in decisions)

    def _cost_of_a_try(self) -> int:
        return len(self._jobs) + _COST_OF_A_PLAN
