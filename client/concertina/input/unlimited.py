"""A limit that is a number, or `none`: what was written, and which changes does it mean?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping

NONE: Final = "none"
_MOST_DIGITS: Final = 9


def count_or_none(option: str, text: str | None, *, unit: str) -> int | str | None:
    """Return the number, or what was written if that is `none` or nothing."""
    if text is None or text == NONE:
        return text
    if not (text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS):
        raise typer.BadParameter(f"{option} is a number of {unit}, or {NONE}.")
    return int(text)


def changes_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what nobody wrote; `none` takes a limit away."""
    return {
        name: None if value == NONE else value for name, value in given.items() if value is not None
    }
