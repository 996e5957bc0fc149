"""How much of what its spec lets a job use up is used up, and how is that said?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from autoscaler.job_vocabulary import JobReason
from autoscaler.reconciling.snapshot import JobSnapshot, LimitsTold
from jobs.spec.quantities import SECONDS_BY_UNIT, format_duration

NEAR: Final = 0.8  # of a limit; guessed: early enough to ask for more
_COUNTED_LATE: Final = 120.0  # seconds; guessed: what was counted last is less old
_LONGEST: Final = timedelta(days=30)  # that anything is left alone
_HOUR: Final = SECONDS_BY_UNIT["h"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitOfUse:
    """One limit of a job, and how much of it is used up: in seconds, or in GPU-seconds."""

    field: str  # of its spec
    reason: JobReason
    used: float
    most: float
    per_second: float  # that it uses up now
    is_told: bool  # its people have heard that it is near, and have not changed it since
    as_told: LimitsTold  # what they have heard of then
    used_in_words: str  # and of how much

    @property
    def is_used_up(self) -> bool:
        return self.used >= self.most

    @property
    def is_to_be_told(self) -> bool:
        return not self.is_told and self.used >= NEAR * self.most

    def seconds_left(self) -> float:
        """Return how long it takes at the present pace until something is to be done."""
        share = 1.0 if self.is_told else NEAR
        return (share * self.most - self.used) / self.per_second

    def warning(self) -> str:
        """Say how much is used up, and what happens then."""
        return (
            f"It has used {self.used_in_words} (`{self.field}`). When all is used up, it is ended"
            " and counts as failed. `concertina edit` gives it more."
        )

    def sentence(self, job_id: str) -> str:
        """Say what is used up, and how to go on."""
        return (
            f"It has used {self.used_in_words} (`{self.field}`), and is not tried again."
            f" `concertina rerun {job_id} --set {self.field}=... --set start_from.job={job_id}`"
            " goes on from its last checkpoint."
        )


def limits_of_use(job: JobSnapshot) -> Iterator[LimitOfUse]:
    """Yield those that its spec sets."""
    used, told = job.used_up, job.notices.limits
    if (most := job.spec.max_duration) is not None:
        yield LimitOfUse(
            field="max_duration",
            reason=JobReason.MAX_DURATION_OVER,
            used=used.held_seconds,
            most=most,
            per_second=1.0,
            is_told=told.max_duration == most,
            as_told=LimitsTold(max_duration=most),
            used_in_words=f"{used.held_seconds / _HOUR:.2f} h of {format_duration(most)}",
        )
    if (budget := job.spec.budget_gpu_hours) is not None:
        yield LimitOfUse(
            field="budget_gpu_hours",
            reason=JobReason.BUDGET_USED_UP,
            used=used.gpu_seconds,
            most=budget * _HOUR,
            per_second=max(1, len(job.live) * job.spec.resources.gpus_per_worker),
            is_told=told.budget_gpu_hours == budget,
            as_told=LimitsTold(budget_gpu_hours=budget),
            used_in_words=f"{used.gpu_seconds / _HOUR:.2f} of {budget:g} GPU-hours",
        )


def no_limit_until(job: JobSnapshot) -> datetime | None:
    """Return until when its limits ask for nothing; None: they may at any moment.

    What was counted last is a little old: only half of the time that seems to be left is trusted.
    """
    left = min((one.seconds_left() for one in limits_of_use(job)), default=float("inf"))
    if left < 2 * _COUNTED_LATE:
        return None
    return job.context.now + timedelta(seconds=min(left / 2, _LONGEST.total_seconds()))
