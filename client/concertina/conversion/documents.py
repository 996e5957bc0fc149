"""Parts of a document that somebody wrote by hand: what is of another kind is not there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final


def mapping(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the mapping of that name, or an empty one."""
    inner = document.get(name)
    return inner if isinstance(inner, Mapping) else {}


def listed(document: Mapping[str, Any], name: str) -> Sequence[Any]:
    """Return the list of that name; a single text is one of its kind."""
    inner = document.get(name)
    if isinstance(inner, str):
        return [inner]
    return inner if isinstance(inner, Sequence) else []


def whole(value: object) -> int:
    """Return a number that is written as a number or as a text; 0: it is none."""
    text = "" if isinstance(value, bool) else str(value)
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else 0


_MOST_DIGITS: Final = 9
