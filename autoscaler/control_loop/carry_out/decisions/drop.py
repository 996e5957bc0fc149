"""A new job that does not fit is refused for good, in a pool that keeps no queue."""

from __future__ import annotations

from autoscaler.control_loop.carry_out.decisions.needs import Needs
from autoscaler.control_loop.carry_out.writing import JobDraft, NotNow
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.plan.explained import ExplainedDecision
from autoscaler.control_loop.tick_context import TickContext
from jobs.lifecycle import JobState


def drop(
    view: LiveJob, decision: ExplainedDecision, draft: JobDraft, _: Needs, __: TickContext
) -> None:
    """It fails: nobody asked to cancel it, and whoever waits for it learns that it did not run."""
    if draft.job.version != view.job.version:
        raise NotNow  # its people changed what it asks for, and it may fit by now
    draft.move({JobState.QUEUED}, JobState.FAILED, reason=decision.reason, message=decision.message)
