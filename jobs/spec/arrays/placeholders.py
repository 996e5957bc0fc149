"""Where in a spec do a trial's values go? Wherever a text has `{{name}}`.

A text that is nothing else becomes the value itself, a number perhaps, as `seed: "{{seed}}"`; in
fields that hold texts only, and within a longer text, it becomes the text of the value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from jobs.spec.arrays.terms import PARAMETER, as_text

MOST_PLACES: Final = 100  # in one spec; guessed, as the longest value
TEXTS_ONLY: Final = frozenset({"command", "env", "labels"})
FIXED: Final = frozenset({"name", "team", "project"})  # what all trials have alike
_PLACE: Final = re.compile(rf"\{{\{{ *({PARAMETER.pattern}) *\}}\}}")


@dataclass(frozen=True, slots=True)
class PlacesOfValues:
    """How often the texts of a spec name each parameter."""

    count_by_name: dict[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return sum(self.count_by_name.values())


def found_in(document: Mapping[str, Any]) -> PlacesOfValues:
    """Find all placeholders of a spec; those in what all trials have alike are none."""
    counts: dict[str, int] = {}
    rest: list[Any] = [value for name, value in document.items() if name not in FIXED]
    while rest:
        part = rest.pop()
        if isinstance(part, str):
            for name in _PLACE.findall(part):
                counts[name] = counts.get(name, 0) + 1
        elif isinstance(part, Mapping):
            rest.extend(part.values())
        elif isinstance(part, list):
            rest.extend(part)
    return PlacesOfValues(counts)


def filled(document: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the spec with a trial's values, each of which it has."""
    return {
        name: part if name in FIXED else _filled(part, values, is_text=name in TEXTS_ONLY)
        for name, part in document.items()
    }


def _filled(part: Any, values: Mapping[str, Any], *, is_text: bool) -> Any:
    if isinstance(part, Mapping):
        return {name: _filled(one, values, is_text=is_text) for name, one in part.items()}
    if isinstance(part, list):
        return [_filled(one, values, is_text=is_text) for one in part]
    if not isinstance(part, str) or "{{" not in part:
        return part
    whole = None if is_text else _PLACE.fullmatch(part)
    if whole is not None:
        return values[whole[1]]
    return _PLACE.sub(lambda place: as_text(values[place[1]]), part)
