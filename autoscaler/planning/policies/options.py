"""What may an admin set of a policy? Options: fields with a type, bounds and an explanation."""

from __future__ import annotations

import math
from dataclasses import Field, dataclass, field, fields
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, Final, get_type_hints

if TYPE_CHECKING:
    from autoscaler.planning.policies.policy import Policy

_EXPLANATION: Final = "explanation"
_AT_LEAST: Final = "at_least"


@dataclass
class OptionRefused(ValueError):
    """An option with a value that its policy cannot take."""

    option: str
    value: object
    remedy: str

    def __str__(self) -> str:
        return f"{self.option}: {self.value!r} {self.remedy}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option of a policy, as it is shown to an admin."""

    name: str
    default: float | str
    explanation: str
    choices: tuple[str, ...] = ()  # of an option that is a word
    at_least: float = -math.inf  # of one that is a number

    def read(self, value: object) -> float | str:
        """The value from JSON or from text.

        Raises:
            OptionRefused: it is no such number or word.
        """
        return self._word(value) if self.choices else self._number(value)

    def _word(self, value: object) -> str:
        if value not in self.choices:
            raise OptionRefused(self.name, value, f"is none of {', '.join(self.choices)}.")
        return str(value)

    def _number(self, value: object) -> float:
        try:
            number = float(value) if isinstance(value, str | int | float) else math.nan
        except ValueError:
            number = math.nan
        if isinstance(value, bool) or not math.isfinite(number):
            raise OptionRefused(self.name, value, "is not a number.")
        if number < self.at_least:
            raise OptionRefused(self.name, value, f"is too small: use {self.at_least:g} or more.")
        return number


def option(default: float | StrEnum, explanation: str, *, at_least: float = -math.inf) -> Any:
    """A field of a policy that an admin may set: a number, or one word of an enum."""
    metadata = {_EXPLANATION: explanation, _AT_LEAST: at_least}
    return field(default=default, metadata=metadata)


@cache
def hints_of(policy: type[Policy]) -> dict[str, Any]:
    """The types of a policy's fields; slow to work out, and asked for at every plan."""
    return get_type_hints(policy)


def options_of(policy: type[Policy]) -> tuple[Option, ...]:
    """Return what can be set of a policy, in the order of its fields."""
    hints = hints_of(policy)
    return tuple(
        _described(one, hints[one.name])
        for one in fields(policy)  # type: ignore[arg-type] # policies are dataclasses: `Catalogue` checks
    )


def _described(one: Field[Any], kind: Any) -> Option:
    default: Any = one.default
    words = tuple(map(str, kind)) if isinstance(kind, type) and issubclass(kind, StrEnum) else ()
    return Option(
        name=one.name,
        default=str(default) if words else float(default),
        explanation=one.metadata[_EXPLANATION],
        choices=words,
        at_least=one.metadata[_AT_LEAST],
    )
