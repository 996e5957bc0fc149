"""What was said of each job in the last tick? If it is the same, its words are there already.

Of a job that waits the same is decided tick after tick, for the same reason; to put that into words
again costs several times what it costs to see that it is the same.
"""

from __future__ import annotations

from collections.abc import Iterable

from autoscaler.control_loop.plan.explained import ExplainedDecision


class LastSaid:
    """The decisions of the last tick, with all that was made of them."""

    def __init__(self) -> None:
        self._by_job: dict[str, ExplainedDecision] = {}

    def unless_new(self, decision: ExplainedDecision) -> ExplainedDecision:
        """The same decision as it was said last; itself, if it is another."""
        last = self._by_job.get(decision.job_id)
        return last if last is not None and last == decision else decision

    def remember(self, decisions: Iterable[ExplainedDecision]) -> None:
        """Keep these and forget all others."""
        self._by_job = {one.job_id: one for one in decisions}
