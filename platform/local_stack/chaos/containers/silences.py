"""Which nodes does the service miss, and since when? Read from its database, all the time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

import psycopg2

from local_stack.chaos.database import Database

LOOK_SECONDS: Final = 0.3
SILENT: Final = "SELECT name, silent_since FROM cluster_node WHERE silent_since IS NOT NULL"


class Silences:
    """A thread beside the faults."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._now: dict[str, float] = {}
        self._began: set[float] = set()
        self._is_over = threading.Event()

    @contextmanager
    def watching(self) -> Iterator[None]:
        thread = threading.Thread(target=self._run, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            thread.join()

    @property
    def now(self) -> str:
        """Which node is missed as we last saw; empty: none."""
        return next((f"the service misses node {name}" for name in self._now), "")

    @property
    def began_at(self) -> tuple[float, ...]:
        """When the service began to miss one; seconds since the epoch."""
        return tuple(self._began)

    def _run(self) -> None:
        while not self._is_over.wait(LOOK_SECONDS):
            with suppress(psycopg2.Error), self._database.cursor() as cursor:
                cursor.execute(SILENT)
                self._now = {name: since.timestamp() for name, since in cursor.fetchall()}
                self._began.update(self._now.values())
