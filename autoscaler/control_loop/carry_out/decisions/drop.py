"""A new job that does not fit is refused for good, in a pool that keeps no queue."""

from __future__ import annotations

from autoscaler.control_loop.observe.jobs.job_view import JobView
from autoscaler.control_loop.plan.explained import ExplainedDecision
from autoscaler.control_loop.tick_context import TickContext
from jobs.changes.transitions import move
from jobs.lifecycle import State


def drop(view: JobView, decision: ExplainedDecision, context: TickContext) -> bool:
    """It fails: nobody asked to cancel it, and whoever waits for it learns that it did not run."""
    with context.changing(view.id):
        return move(
            view.id,
            {State.QUEUED},
            State.FAILED,
            reason=decision.reason,
            message=decision.message,
        )
