"""Which nodes does the service miss, and since when? Read from its database, all the time."""

from __future__ import annotations

from contextlib import AbstractContextManager, suppress
from typing import Final

import psycopg2

from local_stack.chaos.observation.beside import beside
from local_stack.chaos.observation.database import StackDatabase

LOOK_SECONDS: Final = 0.3
SILENT: Final = "SELECT name, silent_since FROM cluster_node WHERE silent_since IS NOT NULL"


class Silences:
    """A thread beside the faults."""

    def __init__(self, database: StackDatabase) -> None:
        self._database = database
        self._now: dict[str, float] = {}
        self._began: set[float] = set()

    def watching(self) -> AbstractContextManager[None]:
        return beside(self._look, every_seconds=LOOK_SECONDS)

    @property
    def now(self) -> str:
        """The node that was missed as we last saw; empty: none."""
        return next((f"the service misses node {name}" for name in self._now), "")

    @property
    def began_at(self) -> tuple[float, ...]:
        """The moments when the service began to miss one; seconds since the epoch."""
        return tuple(self._began)

    def _look(self) -> None:
        with suppress(psycopg2.Error), self._database.cursor() as cursor:
            cursor.execute(SILENT)
            self._now = {name: since.timestamp() for name, since in cursor.fetchall()}
            self._began.update(self._now.values())
