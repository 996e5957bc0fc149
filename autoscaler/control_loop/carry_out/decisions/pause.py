"""A running job gives everything back and waits again; it continues from its checkpoint."""

from __future__ import annotations

from autoscaler.control_loop.carry_out.assignments import NotNow
from autoscaler.control_loop.carry_out.instructions.dispatch import carry_out
from autoscaler.control_loop.observe.jobs.job_view import JobView
from autoscaler.control_loop.plan.explained import ExplainedDecision
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.reconciling.instructions import Stop
from jobs.lifecycle import State


def pause(view: JobView, decision: ExplainedDecision, context: TickContext) -> bool:
    """Ask its workers to write a checkpoint and to leave; False: somebody changed the job."""
    stop = Stop(ends_as=State.QUEUED, reason=decision.reason, message=decision.message)
    try:
        carry_out((stop,), view, context)
    except NotNow:
        return False
    return True
