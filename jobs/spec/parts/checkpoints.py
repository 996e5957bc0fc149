"""How often does a job keep its state, and how many of its checkpoints stay?"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, StringConstraints

from jobs.spec.names import check_text
from jobs.spec.part import SpecPart
from jobs.spec.quantities import Duration

_WEEK: Final = 7 * 24 * 3600.0
_LONGEST_METRIC: Final = 200  # as long as a checkpoint's description may name one

Metric = Annotated[
    str, StringConstraints(min_length=1, max_length=_LONGEST_METRIC), AfterValidator(check_text)
]


class KeepBest(SpecPart):
    """Which checkpoints stay beside the last ones: the best by a value that the script logs."""

    metric: Metric
    goal: Literal["min", "max"] = "min"
    n: int = Field(default=1, ge=1, le=100)


class Checkpoint(SpecPart):
    """How often state is written, and how many copies are kept."""

    interval: Annotated[float, Duration(at_least=1, at_most=_WEEK)] = 60.0
    keep_last: int = Field(default=3, ge=1, le=1000)
    keep_best: KeepBest | None = None
