"""When does what stands on a command line need a parser? Not while it is what it is to become.

Typer parses by pydantic, whose loading takes a third of the time of a short command. A text that is
to be a text, an option that was left out and a default that is right already need none of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, get_args, get_origin

import typer
import typer.core

if TYPE_CHECKING:
    from collections.abc import Iterable

_SEAM: Final = "build_runtime_param"  # by which Typer makes the parser of a parameter
_KNOWN: Final = "0.29."  # releases of Typer, of which it was compared that values mean the same


@dataclass(frozen=True, slots=True)
class PlainOrParsed:
    """Takes what is right as it is, and has Typer parse the rest."""

    descriptor: Any  # of Typer: the type and how it is asked for

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if self._is_right(value):
            return value
        if isinstance(value, (tuple, list)) and self._are_texts(value):
            return list(value)
        if (choice := self._chosen(value)) is not None:
            return choice
        from typer._coercion import build_runtime_param  # noqa: PLC0415 - see above

        return build_runtime_param(self.descriptor).coerce(value, param=param, ctx=ctx)

    def _is_right(self, value: Any) -> bool:
        """True for what is of the very type: what a person wrote is a text, all else a default."""
        is_as_it_is = self.descriptor.parameter_info.parser is None and not self.descriptor.is_path
        return is_as_it_is and type(value) is self.descriptor.annotation

    def _chosen(self, value: Any) -> Enum | None:
        """Return which of its choices is written so; None: none is, or it has no choices."""
        info, kind = self.descriptor.parameter_info, self.descriptor.annotation
        if info.parser is not None or not (isinstance(kind, type) and issubclass(kind, Enum)):
            return None
        return next((one for one in kind if one.value == value), None)

    def _are_texts(self, values: Iterable[Any]) -> bool:
        wanted = self.descriptor.annotation
        is_of_texts = get_origin(wanted) is list and get_args(wanted) == (str,)
        is_as_it_is = self.descriptor.parameter_info.parser is None
        return is_of_texts and is_as_it_is and all(type(value) is str for value in values)


def parse_only_what_needs_it() -> None:
    """Have Typer take plain values as they are; a release that is not known parses as it does."""
    if typer.__version__.startswith(_KNOWN) and hasattr(typer.core, _SEAM):
        setattr(typer.core, _SEAM, PlainOrParsed)
