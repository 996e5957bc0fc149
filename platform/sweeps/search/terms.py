"""What may the field `sweep` say? Which values are tried, how many trials, and by what they go on.

Errors read `what is wrong | what to do`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator

from jobs.errors import SpecInvalid
from jobs.spec.arrays.terms import LARGEST_NUMBER, MOST_PARAMETERS, PARAMETER, Values
from jobs.spec.bulk import MOST_JOBS
from jobs.spec.names import check_text
from jobs.spec.part import SpecPart
from jobs.spec.problems import validation
from sweeps.search.halving import MetricGoal, levels

USUAL_RUNNING: Final = 8  # guessed: it keeps a small cluster busy, and leaves room for others


def _check_bounds(bounds: list[float]) -> list[float]:
    if bounds[0] >= bounds[1]:
        raise ValueError("is empty | Write the smaller number first, as in [0.0, 0.5].")
    return bounds


def _check_positive(bounds: list[float]) -> list[float]:
    if bounds[0] <= 0:
        raise ValueError("is not positive | A logarithm needs numbers above 0, as in [1e-4, 0.1].")
    return bounds


_Bound = Annotated[
    float,
    Field(ge=-LARGEST_NUMBER, le=LARGEST_NUMBER, allow_inf_nan=False),
]
_Bounds = Annotated[list[_Bound], Field(min_length=2, max_length=2), AfterValidator(_check_bounds)]


class ParameterDraw(SpecPart):
    """How a parameter's values are drawn: in one of three ways."""

    uniform: _Bounds | None = None  # numbers between two, each as probable as any other
    # Numbers between two, each order of magnitude as probable as any other.
    log_uniform: Annotated[_Bounds, AfterValidator(_check_positive)] | None = None
    choice: Values | None = None  # one of these, as a list without a word says, too


def _draw(value: object) -> object:
    """Read a list of values, or a range of whole numbers such as `1..4`, as a choice of these."""
    if not isinstance(value, Mapping):
        return {"choice": value}
    if len(value) != 1 or None in value.values():
        raise ValueError(
            "is no distribution | Write one of uniform: [LOW, HIGH], log_uniform: [LOW, HIGH] and"
            " choice: [VALUE, ...]; or a list, or a range such as 1..4."
        )
    return value


_OneDraw = Annotated[
    ParameterDraw, BeforeValidator(_draw, json_schema_input_type=ParameterDraw | Values)
]


def _check_names(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    for name in parameters:
        if not PARAMETER.fullmatch(name):
            raise ValueError(
                f"has {name[:40]!r}, which is not a parameter's name"
                " | Use up to 40 letters, digits and underscores, not beginning with a digit."
            )
    return parameters


class SweepMetric(SpecPart):
    """Which of the metrics that the script logs tells how good a trial is."""

    name: Annotated[str, Field(min_length=1, max_length=80), AfterValidator(check_text)]
    goal: Annotated[MetricGoal, Field(strict=False)] = MetricGoal.MIN


class Asha(SpecPart):
    """Early stopping by asynchronous successive halving."""

    resource: Literal["epochs", "steps", "samples"] = "epochs"
    min: float = Field(default=1, gt=0, le=LARGEST_NUMBER, allow_inf_nan=False)
    max: float = Field(gt=0, le=LARGEST_NUMBER, allow_inf_nan=False)
    reduction: int = Field(default=3, ge=2, le=10)

    @model_validator(mode="after")
    def _check_rungs(self) -> Self:
        if self.min >= self.max:
            raise ValueError(
                f"has a min ({self.min:g}) that is not below its max ({self.max:g})"
                " | max is how long a whole trial trains, and min when trials are compared first."
            )
        return self

    @property
    def levels(self) -> tuple[float, ...]:
        return levels(least=self.min, most=self.max, reduction=self.reduction)


class SweepTerms(SpecPart):
    """The field `sweep`."""

    parameters: Annotated[
        dict[str, _OneDraw],
        Field(min_length=1, max_length=MOST_PARAMETERS),
        AfterValidator(_check_names),
    ]
    trials: int | None = Field(default=None, ge=1, le=MOST_JOBS)  # None: all combinations
    seed: int = Field(default=0, ge=0, le=2**31 - 1)
    metric: SweepMetric
    max_running: int = Field(default=USUAL_RUNNING, ge=1, le=MOST_JOBS)
    asha: Asha | None = None  # None: nobody is stopped

    @model_validator(mode="after")
    def _check_trials(self) -> Self:
        combinations = self.combinations
        if self.trials is None and combinations is None:
            raise ValueError(
                "has no number of trials | Add trials, such as 20: without it, all combinations of"
                " lists are tried, and a distribution has too many."
            )
        if self.trials is None and (combinations or 0) > MOST_JOBS:
            raise ValueError(
                f"has {combinations} combinations | Add trials, at most {MOST_JOBS}: so many of"
                " them are drawn."
            )
        if combinations is not None and (self.trials or 0) > combinations:
            raise ValueError(
                f"has {self.trials} trials of {combinations} combinations | Ask for at most"
                f" {combinations}, or add values."
            )
        return self

    @property
    def combinations(self) -> int | None:
        """Return how many there are; None: they cannot be counted."""
        choices = [one.choice for one in self.parameters.values() if one.choice is not None]
        return math.prod(map(len, choices)) if len(choices) == len(self.parameters) else None

    @property
    def number_of_trials(self) -> int:
        return self.trials or self.combinations or 0


class _SpecWithSweep(SpecPart):
    """So that problems name the whole way to a field."""

    sweep: SweepTerms


def read(value: object) -> SweepTerms:
    """Read the field as it was sent, or stored. Raises: SpecInvalid."""
    try:
        return _SpecWithSweep.model_validate({"sweep": value}).sweep
    except ValidationError as error:
        raise SpecInvalid(validation.from_validation(error, _SpecWithSweep)) from error
