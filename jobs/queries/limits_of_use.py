"""Which limits hold for a job, and how much of each is used up?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from jobs.lifecycle import FINAL
from jobs.models import Job
from jobs.spec import stored_spec

_HOUR: Final = 3600.0


class LimitUnit(StrEnum):
    """What is counted."""

    HOURS = "hours"
    GPU_HOURS = "gpu_hours"


LIMIT_UNITS: Final = [unit.value for unit in LimitUnit]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldLimit:
    """One limit as it holds for a job now."""

    limit: str  # the field in which somebody set it
    unit: LimitUnit
    used: float
    most: float
    is_used_up: bool
    message: str  # the numbers in words, what follows, and who can change it


def limits_of(job: Job) -> list[HeldLimit]:
    """Return those that its spec sets, of a job that has not ended."""
    return [] if job.state in FINAL else list(_of_its_spec(job))


def _of_its_spec(job: Job) -> Iterator[HeldLimit]:
    spec = stored_spec.read(job.resolved_spec).spec
    for one in spec.limits_in_use(held_seconds=job.held_seconds, gpu_seconds=job.gpu_seconds):
        is_time = one.field == "max_duration"
        yield HeldLimit(
            limit=one.field,
            unit=LimitUnit.HOURS if is_time else LimitUnit.GPU_HOURS,
            used=one.used / _HOUR,
            most=one.most / _HOUR,
            is_used_up=one.is_used_up,
            message=one.warning,
        )
