"""How is a remedy said to people? What would start the job, and at whose cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autoscaler.planning.decisions.explanation import RemedyKind
from autoscaler.planning.explanations.sentences.wording import gpus, plural

if TYPE_CHECKING:
    from autoscaler.planning.decisions.explanation import Remedy


def render_remedy(remedy: Remedy, *, team: str) -> str:
    """One sentence for a job of this team."""
    many = gpus(remedy.gpus or 0)
    match remedy.kind:
        case RemedyKind.PATIENCE:
            return "Nothing needs to be done."
        case RemedyKind.NONE:
            return "No single change of the job or of its team's quota would start it now."
        case RemedyKind.FREE_GPUS:
            more = f"{remedy.gpus} more {plural(remedy.gpus or 0, 'GPU is', 'GPUs are')}"
            return f"Starts as soon as {more} free."
        case RemedyKind.GPUS_TOGETHER:
            return f"Starts as soon as {many} more are free together on one node."
        case RemedyKind.REOPENED_NODE:
            return (
                f"Starts as soon as an admin lets node {remedy.node} take work again"
                f" (uncordon){_instead(remedy)}."
            )
        case _:
            return f"{_change(remedy, team, many)} it would start now{_instead(remedy)}."


def _change(remedy: Remedy, team: str, many: str) -> str:
    match remedy.kind:
        case RemedyKind.FEWER_WORKERS:
            return f"With min_workers {remedy.workers}"
        case RemedyKind.HIGHER_PRIORITY:
            return f"With priority {remedy.priority}"
        case RemedyKind.OTHER_POOL:
            return f"In pool {remedy.pool}"
        case RemedyKind.RAISED_LIMIT | RemedyKind.RAISED_USER_LIMIT:
            is_of_users = remedy.kind is RemedyKind.RAISED_USER_LIMIT
            whose = (
                f"each user of team {team} (max_gpus_per_user)" if is_of_users else f"team {team}"
            )
            return f"With a limit of {many} for {whose}"
        case RemedyKind.RAISED_GUARANTEE:
            return f"With a guarantee of {many} for team {team}"
        case _:
            return "As a preemptible job"


def _instead(remedy: Remedy) -> str:
    """Nobody should ask for a change without knowing whom it stops."""
    if not remedy.paused_jobs:
        return ""
    jobs = f"{remedy.paused_jobs} running {plural(remedy.paused_jobs, 'job', 'jobs')}"
    return f", and {jobs} would be paused for it"
