"""Has a team used up its GPU-hours of the month? Its jobs give way, if the team's limits say so.

A job is paused as the planner pauses it: it writes a checkpoint, is queued again, and waits there
until its team has GPU-hours again. So nobody has to resume it, and whoever cancels or changes it
meanwhile does so as with any job that waits.
"""

from __future__ import annotations

from autoscaler.job_vocabulary import JobReason
from autoscaler.reconciling.instructions import NOTHING, Instructions, Stop
from autoscaler.reconciling.snapshot import JobSnapshot
from jobs.lifecycle import JobState


def pause_for_the_budget(job: JobSnapshot) -> Instructions:
    """Pause it by what was counted last, at the earliest after its people were told."""
    budget = job.context.used_up_budget
    if budget is None or not budget.pauses:
        return NOTHING
    return (
        Stop(
            ends_as=JobState.QUEUED,
            reason=JobReason.TEAM_BUDGET_USED_UP,
            message=f"{budget.why_it_waits()}.",
            data={"gives_way": True, "team": budget.team, "month": f"{budget.month:%Y-%m}"},
        ),
    )
