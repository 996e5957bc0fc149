"""How are many rows deleted without anybody waiting? In small statements, for a bounded time.

Each batch is a transaction of its own: it locks few rows for a moment, and stays deleted whatever
happens to the next one. A later run goes on.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from django.db.models import QuerySet

ROWS_AT_ONCE: Final = 5_000  # guessed: a fraction of a second


@dataclass(slots=True, kw_only=True)
class Eraser:
    """Deletes until its time is over."""

    seconds: float
    rows_at_once: int = ROWS_AT_ONCE
    clock: Callable[[], float] = time.monotonic
    _ends_at: float = field(init=False)

    def __post_init__(self) -> None:
        self._ends_at = self.clock() + self.seconds

    def has_time(self) -> bool:
        return self.clock() < self._ends_at

    def __call__(self, rows: QuerySet[Any]) -> int:
        """Delete these rows, to which no others refer; return how many."""
        deleted, last = 0, self.rows_at_once
        while last == self.rows_at_once and self.has_time():
            some = rows.order_by("pk").values("pk")[: self.rows_at_once]
            chosen = rows.model._default_manager.filter(pk__in=some)  # noqa: SLF001 - its name
            last = chosen._raw_delete(chosen.db)  # noqa: SLF001 - nothing refers to them
            deleted += last
        return deleted
