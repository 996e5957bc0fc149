"""A decision together with its explanation, as the loop carries it out and writes it down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from autoscaler.control_loop.plan.decision_document import timeless
from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.decisions.explanation import Explanation
from autoscaler.planning.decisions.plan import Action, Decision, Plan
from autoscaler.planning.explanations.audience import seen_by
from autoscaler.planning.explanations.sentences.rendering import render
from autoscaler.planning.snapshot.cluster_state import Allocation


@dataclass(frozen=True, kw_only=True)
class ExplainedDecision:
    """What happens to one job of `team`, and why.

    `explanation` names jobs of any team. What the job's own team may read is `for_team`, and all
    that is written beside the job, its events and its generations is made of that.
    """

    decision: Decision
    explanation: Explanation
    team: str
    shows_others: bool = True  # False: the team is told nothing of other teams

    @classmethod
    def of(
        cls, decision: Decision, plan: Plan, *, team: str, shows_others: bool = True
    ) -> ExplainedDecision:
        explanation = plan.explanations[decision.job_id]
        return cls(decision=decision, explanation=explanation, team=team, shows_others=shows_others)

    @property
    def job_id(self) -> str:
        return self.decision.job_id

    @property
    def action(self) -> Action:
        return self.decision.action

    @property
    def allocation(self) -> Allocation | None:
        return self.decision.allocation

    @property
    def reason(self) -> JobReason:
        return self.decision.reason

    @cached_property
    def for_team(self) -> Explanation:
        return seen_by(self.explanation, team=self.team, shows_others=self.shows_others)

    @cached_property
    def message(self) -> str:
        """One or two sentences for the job's own team."""
        return render(self.for_team)

    def put_into_words(self) -> None:
        """Render all messages now, so that whatever that raises is raised here."""
        _ = self.message, self.message_for_admins

    @cached_property
    def document_for_team(self) -> Mapping[str, Any]:
        """All that the team may read, as JSON, but for the time."""
        return timeless(self.decision, self.for_team, message=self.message)

    @cached_property
    def message_for_admins(self) -> str:
        """The same with the names of other teams' jobs; empty where there are none in it."""
        return render(self.explanation) if self.names_other_teams_jobs else ""

    @property
    def names_other_teams_jobs(self) -> bool:
        """True if admins read more than the team."""
        return self.for_team != self.explanation

    def document(self, *, decided_at: datetime) -> dict[str, Any]:
        """The whole decision, as the members of the job's team may read it."""
        return {**self.document_for_team, "decided_at": decided_at.isoformat()}

    def document_for_admins(self, *, decided_at: datetime) -> dict[str, Any]:
        """The whole decision, with the names of other teams' jobs."""
        whole = timeless(self.decision, self.explanation, message=render(self.explanation))
        return {**whole, "decided_at": decided_at.isoformat()}
