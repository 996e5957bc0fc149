"""What do the installations look like that are known here?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from concertina.views.fitting import FittingTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def contexts_table(found: Iterable[Mapping[str, Any]]) -> FittingTable:
    """Return a row for each; a star marks the one that is meant."""
    table = FittingTable("", "CONTEXT", "LOGIN", "URL")
    for one in found:
        mark = "*" if one["is_current"] else ""
        table.add_row(mark, one["name"], "yes" if one["is_logged_in"] else "no", one["url"])
    return table
