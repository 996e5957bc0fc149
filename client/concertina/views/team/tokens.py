"""What does a list of a team's tokens look like?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from concertina import words
from concertina.views.fitting import FittingTable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from concertina.documents import Token


def tokens_table(tokens: Iterable[Token]) -> FittingTable:
    table = FittingTable(
        "ID", "NAME", "KEY", "STATE", "MAY", "EXPIRES", "LAST USED", "FROM", "MADE BY"
    )
    for token in tokens:
        table.add_row(
            str(token["id"]),
            token["name"],
            f"{token['prefix']}…",
            token["state"],
            _may(token),
            words.date_time(token["expires_at"]) if token["expires_at"] else "never",
            words.date_time(token["last_used_at"]),
            token["last_used_from"] or words.NOTHING,
            token["created_by"] or words.NOTHING,
        )
    return table


def _may(token: Token) -> str:
    """`submit, only pool a100 or h100, project=digits`."""
    may = "everything" if token["scopes"] is None else ", ".join(token["scopes"])
    pools = [f"pool {' or '.join(token['pools'])}"] if token["pools"] else []
    labels = [f"{name}={value}" for name, value in (token["labels"] or {}).items()]
    bounds = ", ".join([*pools, *labels])
    return f"{may}, only {bounds}" if bounds else may
