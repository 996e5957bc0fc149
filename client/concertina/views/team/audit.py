"""What do entries of the audit log look like?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from concertina import words
from concertina.views.fitting import FittingTable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from concertina.documents import AuditEntry

_LONGEST = 200  # characters of all that changed


def audit_table(entries: Iterable[AuditEntry]) -> FittingTable:
    table = FittingTable("WHEN", "WHO", "KEY", "FROM", "OPERATION", "OBJECT", "ANSWER", "CHANGE")
    for entry in entries:
        often = f", {entry['times']} times" if entry["times"] > 1 else ""
        table.add_row(
            words.date_time(entry["at"]),
            entry["sender"] or words.NOTHING,
            f"{entry['token_prefix']}…" if entry["token_prefix"] else words.NOTHING,
            entry["address"] or words.NOTHING,
            entry["operation"],
            entry["target"],
            f"{entry['outcome']} {entry['answer'] or ''}{often}".replace("  ", " ").strip(),
            change_of(entry),
        )
    return table


def change_of(entry: AuditEntry) -> str:
    """What was before, and what is after, in a line."""
    before, after = (_values(entry[side]) for side in ("before", "after"))
    text = " → ".join(filter(None, (before, after)))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _values(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, dict):
        return ", ".join(f"{name}={_value(inner)}" for name, inner in value.items())
    return _value(value)


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
