"""Which limits of use does a spec set, and is anything of them left?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from jobs.spec.quantities import SECONDS_BY_UNIT, format_duration

_HOUR: Final = SECONDS_BY_UNIT["h"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecLimit:
    """One limit, and how much of it is used up: in seconds, or in GPU-seconds."""

    field: str  # of the spec
    used: float
    most: float
    used_in_words: str

    @property
    def is_used_up(self) -> bool:
        return self.used >= self.most

    @property
    def warning(self) -> str:
        """Say how much is used up, and what happens then."""
        return (
            f"It has used {self.used_in_words} (`{self.field}`). When all is used up, it is ended"
            " and counts as failed. `concertina edit` gives it more."
        )

    @property
    def option(self) -> str:
        """Return how `concertina edit` calls it."""
        return f"--{self.field.replace('_', '-')}"


def limits_in(
    *,
    max_duration: float | None,
    budget_gpu_hours: float | None,
    held_seconds: float,
    gpu_seconds: float,
) -> Iterator[SpecLimit]:
    """Yield those that a spec sets, of a job that has held GPUs for so long, and so many."""
    if max_duration is not None:
        yield SpecLimit(
            field="max_duration",
            used=held_seconds,
            most=max_duration,
            used_in_words=f"{held_seconds / _HOUR:.2f} h of {format_duration(max_duration)}",
        )
    if budget_gpu_hours is not None:
        yield SpecLimit(
            field="budget_gpu_hours",
            used=gpu_seconds,
            most=budget_gpu_hours * _HOUR,
            used_in_words=f"{gpu_seconds / _HOUR:.2f} of {budget_gpu_hours:g} GPU-hours",
        )
