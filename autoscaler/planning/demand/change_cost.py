"""What does a change cost a running job? A factor on its speed, which every objective sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.cluster_state import PlannedJob

MIN_GAIN: Final = 0.05  # guessed: above the noise of step times, below what a GPU should bring
SMALLEST_FACTOR: Final = 0.01  # a young job may be forced to change, but never volunteers
LOOK_AHEAD_SECONDS: Final = 600.0  # guessed: within it a change has to earn its stall back


def change_factor(job: PlannedJob, now: float, *, seconds_left: float | None) -> float:
    """Return what is left of a job's speed when it is rescaled once more: below 1, above 0.

    f = max(h - stall * rescales, 0) / (h + stall), as in Pollux (OSDI 2021). There h is the job's
    age, for who has run for long is likely to run on. Here it is also what is known to be ahead of
    the job, up to `LOOK_AHEAD_SECONDS`: a young one with hours to go has the time to earn a change
    back, one that is nearly done has not, and one that keeps changing has paid with its own time.
    On top a change must gain `MIN_GAIN`, or noise would decide.
    """
    age = max(now - job.started_at, 0.0) if job.started_at is not None else 0.0
    horizon = max(age, min(seconds_left or 0.0, LOOK_AHEAD_SECONDS))
    stall = max(job.stall_seconds, 0.0)
    kept = max(horizon - stall * job.rescales, 0.0)
    factor = kept / (horizon + stall) if horizon + stall > 0 else 0.0
    return max(factor, SMALLEST_FACTOR) * (1 - MIN_GAIN)
