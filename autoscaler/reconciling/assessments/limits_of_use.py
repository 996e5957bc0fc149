"""How much of what its spec lets a job use up is used up, and how is that said?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from autoscaler.job_vocabulary import JobReason
from autoscaler.reconciling.snapshot import JobSnapshot, LimitsTold
from jobs.spec.parts.used_limits import SpecLimit

NEAR: Final = 0.8  # of a limit; guessed: early enough to ask for more
_COUNTED_LATE: Final = 120.0  # seconds; guessed: what was counted last is less old
_LONGEST: Final = timedelta(days=30)  # that anything is left alone
_REASONS: Final = {
    "max_duration": JobReason.MAX_DURATION_OVER,
    "budget_gpu_hours": JobReason.BUDGET_USED_UP,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitOfUse:
    """One limit of a job, how fast it is used up, and whether its people have heard of it."""

    limit: SpecLimit
    reason: JobReason
    per_second: float  # that it uses up now
    is_told: bool  # its people have heard that it is near, and have not changed it since
    as_told: LimitsTold  # what they have heard of then

    @property
    def is_to_be_told(self) -> bool:
        return not self.is_told and self.limit.used >= NEAR * self.limit.most

    def seconds_left(self) -> float:
        """Return how long it takes at the present pace until something is to be done."""
        share = 1.0 if self.is_told else NEAR
        return (share * self.limit.most - self.limit.used) / self.per_second

    def sentence(self, job_id: str) -> str:
        """Say what is used up, and how to go on."""
        field = self.limit.field
        return (
            f"It has used {self.limit.used_in_words} (`{field}`), and is not tried again."
            f" `concertina rerun {job_id} --set {field}=... --set start_from.job={job_id}`"
            " goes on from its last checkpoint."
        )


def limits_of_use(job: JobSnapshot) -> Iterator[LimitOfUse]:
    """Yield those that its spec sets."""
    used, told = job.used_up, job.notices.limits
    gpus = max(1, len(job.live) * job.spec.resources.gpus_per_worker)
    for limit in job.spec.limits_in_use(
        held_seconds=used.held_seconds, gpu_seconds=used.gpu_seconds
    ):
        as_set = getattr(job.spec, limit.field)
        yield LimitOfUse(
            limit=limit,
            reason=_REASONS[limit.field],
            per_second=gpus if limit.field == "budget_gpu_hours" else 1.0,
            is_told=getattr(told, limit.field) == as_set,
            as_told=LimitsTold(**{limit.field: as_set}),
        )


def no_limit_until(job: JobSnapshot) -> datetime | None:
    """Return until when its limits ask for nothing; None: they may at any moment.

    What was counted last is a little old: only half of the time that seems to be left is trusted.
    """
    left = min((one.seconds_left() for one in limits_of_use(job)), default=float("inf"))
    if left < 2 * _COUNTED_LATE:
        return None
    return job.context.now + timedelta(seconds=min(left / 2, _LONGEST.total_seconds()))
