"""Which fields of a spec do rules bound, in which unit, and what of a spec counts?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final

from jobs.spec.feasibility import worker_counts
from jobs.spec.job_spec import MOST_GPUS, MOST_WORKERS, JobSpec
from jobs.spec.quantities import (
    LARGEST_SIZE,
    format_duration,
    format_size,
    parse_duration,
    parse_size,
)

_LONGEST: Final = 100 * 365 * 86400.0


class BoundUnit(Enum):
    """A unit in which bounds are written."""

    COUNT = auto()
    NUMBER = auto()
    DURATION = auto()
    SIZE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedField:
    """A number of a spec. Where a spec leaves it open, `is_endless` says that it is without end."""

    unit: BoundUnit
    read: Callable[[JobSpec], float | None]
    least: float = 0.0
    most: float
    is_endless: bool = False
    shown_at: str = ""  # the field that a problem names, where it is another one

    def parsed(self, value: object) -> float:
        """Read a bound. Raises: ValueError, of "what is wrong | what to do"."""
        number = self._number(value)
        if not self.least <= number <= self.most:
            raise ValueError(
                f"is out of bounds | Use {self.said(self.least)} to {self.said(self.most)}."
            )
        return number

    def said(self, number: float) -> str:
        """Write a number in this unit."""
        match self.unit:
            case BoundUnit.DURATION:
                return format_duration(number)
            case BoundUnit.SIZE:
                return format_size(int(number))
            case _:
                return f"{number:.12g}"

    def as_json(self, number: float) -> Any:
        match self.unit:
            case BoundUnit.COUNT:
                return int(number)
            case BoundUnit.NUMBER:
                return number
            case _:
                return self.said(number)

    def _number(self, value: object) -> float:
        match self.unit:
            case BoundUnit.DURATION:
                return parse_duration(value)
            case BoundUnit.SIZE:
                try:
                    return parse_size(value)
                except ValueError as error:
                    raise ValueError(str(error)) from None
            case BoundUnit.COUNT if not isinstance(value, int) or isinstance(value, bool):
                raise ValueError("is not a whole number | Use a number such as 4, without quotes.")
            case _ if not isinstance(value, int | float) or isinstance(value, bool):
                raise ValueError("is not a number | Use a number such as 1.5, without quotes.")
        number: float = value
        return number


def _most_workers(spec: JobSpec) -> float:
    return max(worker_counts(spec.elastic), default=spec.elastic.max_workers)


def _least_workers(spec: JobSpec) -> float:
    return min(worker_counts(spec.elastic), default=spec.elastic.min_workers)


FIELDS: Final[Mapping[str, BoundedField]] = {
    "gpus": BoundedField(
        unit=BoundUnit.COUNT,
        read=lambda spec: _most_workers(spec) * spec.resources.gpus_per_worker,
        least=1,
        most=MOST_GPUS * MOST_WORKERS,
        shown_at="elastic.max_workers",
    ),
    "elastic.min_workers": BoundedField(
        unit=BoundUnit.COUNT, read=_least_workers, least=1, most=MOST_WORKERS
    ),
    "elastic.max_workers": BoundedField(
        unit=BoundUnit.COUNT, read=_most_workers, least=1, most=MOST_WORKERS
    ),
    "elastic.min_interval": BoundedField(
        unit=BoundUnit.DURATION, read=lambda spec: spec.elastic.min_interval, most=_LONGEST
    ),
    "elastic.grace_period": BoundedField(
        unit=BoundUnit.DURATION, read=lambda spec: spec.elastic.grace_period, most=_LONGEST
    ),
    "resources.gpus_per_worker": BoundedField(
        unit=BoundUnit.COUNT,
        read=lambda spec: spec.resources.gpus_per_worker,
        least=1,
        most=MOST_GPUS,
    ),
    "resources.cpus": BoundedField(
        unit=BoundUnit.NUMBER, read=lambda spec: spec.resources.cpus, most=1024
    ),
    "resources.memory": BoundedField(
        unit=BoundUnit.SIZE, read=lambda spec: spec.resources.memory, least=1, most=LARGEST_SIZE
    ),
    "resources.disk_per_job": BoundedField(
        unit=BoundUnit.SIZE,
        read=lambda spec: spec.resources.disk_per_job,
        least=1,
        most=LARGEST_SIZE,
    ),
    "priority": BoundedField(unit=BoundUnit.COUNT, read=lambda spec: spec.priority, most=100),
    "retry.max_restarts": BoundedField(
        unit=BoundUnit.COUNT, read=lambda spec: spec.retry.max_restarts, most=1000
    ),
    "max_duration": BoundedField(
        unit=BoundUnit.DURATION,
        read=lambda spec: spec.max_duration,
        most=_LONGEST,
        is_endless=True,
    ),
    "budget_gpu_hours": BoundedField(
        unit=BoundUnit.NUMBER,
        read=lambda spec: spec.budget_gpu_hours,
        most=1e9,
        is_endless=True,
    ),
}
