"""What does a user want of a job, besides that it trains? By when, worth how much, by which metric.

These are wishes to the pool's policy, not limits. Errors read `what is wrong | what to do`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import Annotated, Final, Self

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, model_validator

from jobs.spec.names import check_text
from jobs.spec.part import SpecPart
from jobs.spec.quantities import Duration
from jobs.spec.timestamps import format_timestamp, parse_timestamp

_TEN_YEARS: Final = 10 * 365 * 24 * 3600.0
_MOST_DOLLARS: Final = 1e9
_LARGEST: Final = 1e15


def _moment(value: object) -> datetime:
    try:
        if isinstance(value, str):
            return parse_timestamp(value)
    except ValueError:
        pass  # told below
    raise ValueError(
        "is not a moment | Write date, time and time zone, such as 2026-12-01T08:00:00Z."
    )


Deadline = Annotated[
    datetime,
    BeforeValidator(_moment, json_schema_input_type=str),
    PlainSerializer(format_timestamp, return_type=str, when_used="json"),
]


class UtilityPoint(SpecPart):
    """What it is worth, in dollars, to have the job done so long after its submission."""

    after: Annotated[float, Duration(at_most=_TEN_YEARS)]
    dollars: float = Field(ge=-_MOST_DOLLARS, le=_MOST_DOLLARS, allow_inf_nan=False)


def _check_order(points: Sequence[UtilityPoint]) -> Sequence[UtilityPoint]:
    if any(later.after <= one.after for one, later in pairwise(points)):
        raise ValueError("has times that do not increase | Order its points by `after`, each once.")
    return points


Utility = Annotated[
    list[UtilityPoint], Field(min_length=1, max_length=100), AfterValidator(_check_order)
]


class ScaleOn(SpecPart):
    """A metric the script logs, and between which values the job's size is right."""

    metric: Annotated[str, Field(min_length=1, max_length=80), AfterValidator(check_text)]
    grow_above: float | None = Field(default=None, ge=-_LARGEST, le=_LARGEST, allow_inf_nan=False)
    shrink_below: float | None = Field(default=None, ge=-_LARGEST, le=_LARGEST, allow_inf_nan=False)

    @model_validator(mode="after")
    def _check_thresholds(self) -> Self:
        low, high = self.shrink_below, self.grow_above
        if low is None and high is None:
            raise ValueError("has no threshold | Give grow_above, shrink_below, or both.")
        if low is not None and high is not None and low >= high:
            raise ValueError(
                f"has a shrink_below ({low:g}) that is not below grow_above ({high:g})"
                " | Leave room between them: there, the job keeps its size."
            )
        return self
