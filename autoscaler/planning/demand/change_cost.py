"""What does a change cost a running job? A factor on its speed, which every objective sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.cluster_state import Job

MIN_GAIN: Final = 0.10  # guessed: above the noise of step times, well below what a GPU should bring
SMALLEST_FACTOR: Final = 0.01  # a young job may be forced to change, but never volunteers


def change_factor(job: Job, now: float) -> float:
    """Return what is left of a job's speed when it is rescaled once more: below 1, above 0.

    f = max(age - stall * rescales, 0) / (age + stall): a job that keeps stopping for changes has
    paid for them with its own time. On top a change must gain `MIN_GAIN`, or noise would decide.
    """
    age = max(now - job.started_at, 0.0) if job.started_at is not None else 0.0
    stall = max(job.stall_seconds, 0.0)
    lived = max(age - stall * job.rescales, 0.0)
    factor = lived / (age + stall) if age + stall > 0 else 0.0
    return max(factor, SMALLEST_FACTOR) * (1 - MIN_GAIN)
