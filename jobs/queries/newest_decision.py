"""What has the planner decided about a job, if that is still about its present state?"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from autoscaler.job_vocabulary import WAITING_OUTSIDE
from autoscaler.planning.decisions.explanation import RemedyKind
from autoscaler.planning.snapshot.vocabulary import Preemptibility
from jobs.lifecycle import ACTIVE, JobState
from jobs.models import Job

REMEDY_HOLDS_FOR: Final = timedelta(minutes=1)  # guessed: it is sought four times as often
_OF_WAITING: Final = frozenset({"wait", "start"})
_OF_ACTIVE: Final = frozenset({"start", "keep", "rescale", "pause"})


def newest_decision(job: Job, *, for_admin: bool = False) -> Mapping[str, Any]:
    """Return the newest decision; empty before the first, and when it is out of date.

    Members of the job's team read other teams' jobs of that team, an admin by name.

    Jobs that end, are paused, wait out a back-off or for their data are not planned: their own
    reason and message say why they stand as they do, and the last decision speaks of what was then.
    """
    if job.state == JobState.QUEUED and job.reason in WAITING_OUTSIDE:
        return {}
    decision: Mapping[str, Any] = job.explanation
    if for_admin and job.explanation_for_admins:
        decision = job.explanation_for_admins
    action = decision.get("action")
    is_current = (job.state == JobState.QUEUED and action in _OF_WAITING) or (
        job.state in ACTIVE and action in _OF_ACTIVE
    )
    return decision if is_current else {}


def position_in_queue(job: Job) -> int | None:
    """Return the position, 1 being next; None for a job that does not wait or was never planned."""
    position: int | None = explanation_of(newest_decision(job)).get("position")
    return position if job.state == JobState.QUEUED else None


def remedy_of(job: Job, *, now: datetime) -> Mapping[str, Any] | None:
    """Return what would start the job now; None if nobody looked lately, or it does not wait."""
    remedy: Mapping[str, Any] = job.remedy
    if not remedy or newest_decision(job).get("action") != "wait":
        return None
    if now - datetime.fromisoformat(remedy["found_at"]) > REMEDY_HOLDS_FOR:
        return None
    return {**remedy, "changes": _changes_of(remedy)}


def _changes_of(remedy: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the part of a spec that makes it so; None: it is no change of the job."""
    match remedy["kind"]:
        case RemedyKind.HIGHER_PRIORITY:
            return {"priority": remedy["priority"]}
        case RemedyKind.FEWER_WORKERS:
            return {"elastic": {"min_workers": remedy["workers"]}}
        case RemedyKind.PREEMPTIBLE:
            return {"preemptibility": Preemptibility.PREEMPTIBLE}
    return None


def explanation_of(decision: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the numbers a decision rests on; empty if there is no decision."""
    numbers: Mapping[str, Any] = decision.get("explanation", {})
    return numbers
