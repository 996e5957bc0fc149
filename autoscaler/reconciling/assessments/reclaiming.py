"""By when must lent GPUs be back? In the pool's time, when another team's guarantee is at stake.

A job's own `grace_period` and `registration_timeout` say how patient everybody is with it. They are
its user's choice, up to an hour each: whoever borrows could keep for hours what another team is
guaranteed. So the pool's `reclaim_seconds` caps them, counted from the claim.
"""

from __future__ import annotations

from datetime import datetime

from autoscaler.job_vocabulary import JobReason
from autoscaler.reconciling.questions import OwnersWaitSince
from autoscaler.reconciling.snapshot import JobSnapshot
from jobs.lifecycle import JobState


def is_due(job: JobSnapshot) -> bool:
    """True once another team has waited long enough for what this job is giving back."""
    patience = _patience(job)
    if job.seconds_since(_began(job)) < patience:
        return False
    claimed_at = _claimed_at(job)
    return claimed_at is not None and job.seconds_since(claimed_at) >= patience


def grace_seconds(job: JobSnapshot) -> float:
    """The job's own grace period, or what the pool leaves of it. Asks nothing where it is short."""
    own, patience = job.spec.elastic.grace_period, _patience(job)
    if own <= patience:
        return own
    claimed_at = _claimed_at(job)
    if claimed_at is None:
        return own
    return min(own, max(patience - job.seconds_since(claimed_at), 0.0))


def _patience(job: JobSnapshot) -> float:
    """Return how long it may take to go; then it is killed, which takes a moment more."""
    return max(job.context.reclaim_seconds - job.limits.kill_grace, 0.0)


def _began(job: JobSnapshot) -> datetime:
    """Return when it began to give something back."""
    if job.state is JobState.STOPPING or job.assignment is None:
        return job.state_since
    return job.assignment.at


def _claimed_at(job: JobSnapshot) -> datetime | None:
    """Return when another team laid claim to what it holds; None: nobody does."""
    of_assignment = job.assignment.reason if job.assignment else ""
    reason = job.reason if job.state is JobState.STOPPING else of_assignment
    if reason == JobReason.RECLAIM_GUARANTEE:
        return _began(job)
    first = job.answer_to(OwnersWaitSince())
    return None if first is None else max(first, _began(job))
