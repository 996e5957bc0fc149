"""What becomes known of a request while it is answered?

Whoever changes something notes what it was and what it is, wherever in the service that is.
Nothing happens where nobody keeps a record, as in commands of `manage.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(slots=True, kw_only=True)
class AuditRecord:
    """What is known of one request up to now."""

    operation: str
    target: str
    team_id: int | None = None
    before: Any = None
    after: Any = None
    has_changes: bool = False
    rows: dict[str, tuple[Any, Any]] = field(default_factory=dict)  # of several, by name
    more_rows: int = 0
    tried_name: str | None = None  # under which somebody wants to sign in
    person: tuple[int, str] | None = None  # who has just signed in or out, with their name

    def tell_each_row(self) -> None:
        """Say of which rows it is what was noted last of each."""
        if not self.rows:
            return
        more = {"(more)": self.more_rows} if self.more_rows else {}
        self.before = {row: before for row, (before, _) in self.rows.items()} | more
        self.after = {row: after for row, (_, after) in self.rows.items()} | more


MOST_ROWS: Final = 40  # below what an entry keeps of an object
_current: Final[ContextVar[AuditRecord | None]] = ContextVar("audit record", default=None)


@contextmanager
def recording(record: AuditRecord) -> Iterator[AuditRecord]:
    """Let what is noted go into this record."""
    token = _current.set(record)
    try:
        yield record
    finally:
        _current.reset(token)


def note_change(*, before: Any = None, after: Any = None, row: str = "") -> None:
    """Note what changed: values as JSON has them, and none that is secret.

    Who may be asked to change several at once says which row it is.
    """
    record = _current.get()
    if record is None:
        return
    record.before, record.after, record.has_changes = before, after, True
    if row and (row in record.rows or len(record.rows) < MOST_ROWS):
        record.rows[row] = (before, after)
    elif row:
        record.more_rows += 1


def note_target(*, team_id: int | None = None, target: str | None = None) -> None:
    """Note whose it is, and what it is if its address does not tell."""
    record = _current.get()
    if record is not None:
        record.team_id = team_id if team_id is not None else record.team_id
        record.target = target or record.target


def note_name(name: str) -> None:
    """Note that somebody wants to sign in under a name, which may be nobody's."""
    record = _current.get()
    if record is not None:
        record.tried_name = name


def note_person(person_id: int, name: str) -> None:
    """Note who has signed in or out."""
    record = _current.get()
    if record is not None:
        record.person = (person_id, name)
