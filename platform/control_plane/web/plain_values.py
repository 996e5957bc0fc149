"""Can a document be stored and answered with? Only if texts are texts and numbers numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

MOST_LEVELS: Final = 50  # guessed: a job spec has five
_MOST_FAULTS: Final = 20
_LONGEST_PLACE: Final = 200
_NULL: Final = ("contains a null character", "Remove it.")
_NO_TEXT: Final = ("is not text", "Encode what is not text as base64.")
_NO_NUMBER: Final = ("is not a number that can be computed with", "Use an ordinary number.")
_NO_NAME: Final = ("has a name that is not text", "Put it in quotes.")
_TOO_DEEP: Final = ("is nested too deeply", f"Use at most {MOST_LEVELS} levels.")


@dataclass(frozen=True, slots=True, kw_only=True)
class NotPlainValue:
    """A value that is not plain, and what would be right. Never the value: it may be a secret."""

    field: str
    problem: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.field or 'The body'} {self.problem}. {self.remedy}"


def faults_of(document: Any) -> Iterator[NotPlainValue]:
    """Find values that are not plain, at most 20; without recursion, however deep they are."""
    found = 0
    rest: list[tuple[str, int, Any]] = [("", 0, document)]
    while rest and found < _MOST_FAULTS:
        place, level, value = rest.pop()
        wrong = _TOO_DEEP if level > MOST_LEVELS else _wrong_with(value)
        if wrong is not None:
            found += 1
            yield NotPlainValue(field=place[:_LONGEST_PLACE], problem=wrong[0], remedy=wrong[1])
        elif isinstance(value, dict):
            rest += [(f"{place}.{name}".lstrip("."), level + 1, one) for name, one in value.items()]
        elif isinstance(value, list):
            rest += [(f"{place}[{index}]", level + 1, one) for index, one in enumerate(value)]


def check_unique(names: Iterable[str]) -> None:
    """Refuse repeated names, of which both languages would silently take the last value.

    Raises:
        ValueError: a name is there twice.
    """
    known = set()
    for name in names:
        if name in known:
            raise ValueError(f"the field {name[:80]!a} occurs twice")
        known.add(name)


def _wrong_with(value: Any) -> tuple[str, str] | None:
    """Say what is wrong with the value and a mapping's names, not with what is in it."""
    if isinstance(value, str):
        return _wrong_with_text(value)
    if isinstance(value, int | float):
        return None if _is_finite(value) else _NO_NUMBER
    if isinstance(value, dict):
        if not all(isinstance(name, str) for name in value):
            return _NO_NAME
        return next(filter(None, map(_wrong_with_text, value)), None)
    return None


def _wrong_with_text(text: str) -> tuple[str, str] | None:
    if "\0" in text:
        return _NULL
    return None if text.isascii() or _is_whole(text) else _NO_TEXT


def _is_whole(text: str) -> bool:
    """True if no character is half of one, which no encoding can write."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that no float holds
        return False
