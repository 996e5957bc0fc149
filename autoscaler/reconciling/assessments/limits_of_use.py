"""How much of what its spec lets a job use up is used up, and how is that said?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from autoscaler.job_vocabulary import JobReason
from autoscaler.reconciling.snapshot import JobSnapshot
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
    said: str  # how much is used up, of how much

    def is_used_up(self, share: float = 1.0) -> bool:
        return self.used >= share * self.most

    def seconds_until(self, share: float) -> float:
        """Return how long it takes at the present pace until this share is used up."""
        return (share * self.most - self.used) / self.per_second

    def warning(self) -> str:
        """Say how much is used up, and what happens in the end."""
        return (
            f"It has used {self.said} (`{self.field}`). After that it is ended and counts as"
            " failed. `concertina edit` gives it more."
        )

    def sentence(self, job_id: str) -> str:
        """Say what is used up, and how to go on."""
        return (
            f"It has used {self.said} (`{self.field}`), and is not tried again. `concertina rerun"
            f" {job_id} --set {self.field}=... --set start_from.job={job_id}` goes on from its last"
            " checkpoint."
        )


def limits_of_use(job: JobSnapshot) -> Iterator[LimitOfUse]:
    """Yield those that its spec sets."""
    used, most, budget = job.used_up, job.spec.max_duration, job.spec.budget_gpu_hours
    if most is not None:
        yield LimitOfUse(
            field="max_duration",
            reason=JobReason.MAX_DURATION_OVER,
            used=used.held_seconds,
            most=most,
            per_second=1.0,
            said=f"{used.held_seconds / _HOUR:.2f} h of {format_duration(most)}",
        )
    if budget is not None:
        held = used.gpu_seconds / _HOUR
        yield LimitOfUse(
            field="budget_gpu_hours",
            reason=JobReason.BUDGET_USED_UP,
            used=used.gpu_seconds,
            most=budget * _HOUR,
            per_second=max(1, len(job.live) * job.spec.resources.gpus_per_worker),
            said=f"{held:.2f} of {budget:g} GPU-hours",
        )


def unnoticed_limit(job: JobSnapshot) -> LimitOfUse | None:
    """The limit that is near and of which its people have not heard since they changed its spec."""
    if _is_noticed(job):
        return None
    return next((one for one in limits_of_use(job) if one.is_used_up(NEAR)), None)


def no_limit_until(job: JobSnapshot) -> datetime | None:
    """Return until when its limits ask for nothing; None: they may at any moment.

    What was counted last is a little old: only half of the time that seems to be left is trusted.
    """
    share = 1.0 if _is_noticed(job) else NEAR
    left = min((one.seconds_until(share) for one in limits_of_use(job)), default=float("inf"))
    if left < 2 * _COUNTED_LATE:
        return None
    return job.context.now + timedelta(seconds=min(left / 2, _LONGEST.total_seconds()))


def _is_noticed(job: JobSnapshot) -> bool:
    return job.notices.limit_version == job.version
