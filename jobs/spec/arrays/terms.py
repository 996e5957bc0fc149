"""What may the field `array` say? Which values its parameters have, and how many jobs run at once.

Errors read `what is wrong | what to do`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from jobs.spec.bulk import MOST_JOBS
from jobs.spec.names import check_text
from jobs.spec.part import SpecPart

MOST_PARAMETERS: Final = 20
LONGEST_VALUE: Final = 200  # letters; guessed: many times that, in many places, fills the memory
LARGEST_NUMBER: Final = 10**15
PARAMETER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")
_RANGE: Final = re.compile(r"(-?[0-9]{1,9})\.\.(-?[0-9]{1,9})(?:\.\.([0-9]{1,9}))?")
_VALUE_SCHEMA: Final = {
    "anyOf": [
        {"type": "number", "minimum": -LARGEST_NUMBER, "maximum": LARGEST_NUMBER},
        {"type": "string", "maxLength": LONGEST_VALUE},
        {"type": "boolean"},
    ]
}
_RANGE_SCHEMA: Final = {"type": "string", "pattern": f"^{_RANGE.pattern}$", "example": "0..9"}
_VALUES_SCHEMA: Final = {
    "anyOf": [
        _RANGE_SCHEMA,
        {"type": "array", "items": _VALUE_SCHEMA, "minItems": 1, "maxItems": MOST_JOBS},
    ]
}


def as_text(value: object) -> str:
    """Return a value as it stands within a text: numbers and truths as in JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def _check_value(value: object) -> object:
    if isinstance(value, str):
        if len(value) > LONGEST_VALUE:
            raise ValueError(f"is too long | Use at most {LONGEST_VALUE} letters.")
        return check_text(value)
    if not isinstance(value, bool | int | float):
        raise ValueError("is no value | Use a number, a text, true or false.")  # noqa: TRY004 - pydantic asks for it
    if not math.isfinite(value) or abs(value) > LARGEST_NUMBER:
        raise ValueError("is out of bounds | Use a number from -10^15 to 10^15, or a text.")
    return value


def _check_names(names: Collection[str]) -> None:
    for name in names:
        if not PARAMETER.fullmatch(name):
            raise ValueError(
                f"has {name[:LONGEST_VALUE]!r}, which is not a parameter's name"
                " | Use up to 40 letters, digits and underscores, not beginning with a digit."
            )
    if len(names) > MOST_PARAMETERS:
        raise ValueError(f"has {len(names)} parameters | Use at most {MOST_PARAMETERS}.")


def _listed(values: object) -> object:
    """Read `0..9`, or `0..100..10` with a step, as the list of these numbers, both ends included.

    A longer text counts as what it is: no list.
    """
    if not isinstance(values, str):
        return values
    found = _RANGE.fullmatch(values)
    if found is None:
        raise ValueError("is no range of whole numbers | Write one as 0..9, or a list of values.")
    first, last, step = int(found[1]), int(found[2]), int(found[3] or 1)
    if step < 1 or last < first:
        raise ValueError(
            "is an empty range | Write the smaller number first; a step, as in 0..100..10, is at"
            " least 1."
        )
    if (last - first) // step >= MOST_JOBS:
        raise ValueError(f"has too many numbers | Use at most {MOST_JOBS}.")
    return list(range(first, last + 1, step))


def _check_each_once(values: Sequence[Any]) -> Sequence[Any]:
    seen: set[str] = set()
    for text in map(as_text, values):
        if text in seen:
            raise ValueError(f"has {text} twice | Name each value once.")
        seen.add(text)
    return values


def _check_grid(grid: Mapping[str, Sequence[Any]]) -> Mapping[str, Sequence[Any]]:
    _check_names(grid)
    trials = math.prod(map(len, grid.values()))
    if trials > MOST_JOBS:
        raise ValueError(f"makes {trials} jobs | Leave out values: at most {MOST_JOBS} at once.")
    return grid


def _check_trials(trials: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    first = trials[0]
    _check_names(first)
    if not first:
        raise ValueError("begins with a trial without values | Give each parameter a value.")
    seen: set[tuple[str, ...]] = set()
    for number, trial in enumerate(trials):
        if trial.keys() != first.keys():
            raise ValueError(
                f"has other parameters in entry {number} than in the first: {', '.join(first)}"
                " | Give each trial a value of each parameter."
            )
        values = tuple(as_text(trial[name]) for name in first)
        if values in seen:
            raise ValueError(f"has the values of entry {number} twice | Name them once.")
        seen.add(values)
    return trials


Value = Annotated[Any, AfterValidator(_check_value), WithJsonSchema(_VALUE_SCHEMA)]
Values = Annotated[
    list[Value],
    Field(min_length=1, max_length=MOST_JOBS),
    AfterValidator(_check_each_once),
    BeforeValidator(_listed),
    WithJsonSchema(_VALUES_SCHEMA),
]
Grid = Annotated[
    dict[str, Values], Field(min_length=1, max_length=200), AfterValidator(_check_grid)
]
Listed = Annotated[
    list[dict[str, Value]],
    Field(min_length=1, max_length=MOST_JOBS),
    AfterValidator(_check_trials),
]


class ArraySpec(SpecPart):
    """The field `array`: either a grid, or the values of each trial."""

    parameters: Grid | None = None
    trials: Listed | None = None
    max_running: int | None = Field(default=None, ge=1, le=MOST_JOBS)
