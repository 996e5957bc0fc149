"""A new job that does not fit is refused for good, in a pool that keeps no queue."""

from __future__ import annotations

from autoscaler.control_loop.carry_out.decisions.needs import Needs
from autoscaler.control_loop.carry_out.writing import JobDraft
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.plan.explained import ExplainedDecision
from autoscaler.control_loop.tick_context import TickContext
from jobs.lifecycle import JobState


def drop(
    _: LiveJob, decision: ExplainedDecision, draft: JobDraft, __: Needs, ___: TickContext
) -> None:
    """It fails: nobody asked to cancel it, and whoever waits for it learns that it did not run."""
    draft.move({JobState.QUEUED}, JobState.FAILED, reason=decision.reason, message=decision.message)
