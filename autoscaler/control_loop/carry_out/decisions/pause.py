"""A running job gives everything back and waits again; it continues from its checkpoint."""

from __future__ import annotations

from autoscaler.control_loop.carry_out.decisions.needs import Needs
from autoscaler.control_loop.carry_out.instructions import job_rows
from autoscaler.control_loop.carry_out.writing import JobDraft
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.plan.explained import ExplainedDecision
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.reconciling.instructions import Stop
from jobs.lifecycle import JobState


def pause(
    view: LiveJob, decision: ExplainedDecision, draft: JobDraft, _: Needs, context: TickContext
) -> None:
    """Ask its workers to write a checkpoint and to leave."""
    stop = Stop(
        ends_as=JobState.QUEUED,
        reason=decision.reason,
        message=decision.message,
        data={"gives_way": True},
    )
    job_rows.stop(stop, draft, view, context)
