"""How is the schema changed beside a running service? By Django's `migrate`, with bounds of time.

An ALTER TABLE needs the table for itself. While it waits for a transaction that has it, everybody
who comes later waits behind it, readers too. So it gives up after `LOCK_SECONDS`, lets them pass,
and tries again; migrations that are done stay done: each is a transaction of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import OperationalError, connections

LOCK_SECONDS: Final = 2.0  # guessed: how long requests and ticks may stand still for it
PAUSE_SECONDS: Final = 3.0  # guessed: what has piled up meanwhile goes first
TRIES: Final = 60  # about five minutes
_LOCK_NOT_AVAILABLE: Final = "55P03"


class Command(migrate.Command):
    """Django's own command, with bounds of time."""

    pause: Callable[[float], None] = staticmethod(time.sleep)
    lock_seconds = LOCK_SECONDS
    tries = TRIES

    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        # A migration itself may take its time: bounds for requests are none for it.
        self._set(connection, lock_timeout=f"{self.lock_seconds:g}s", statement_timeout="0")
        try:
            self._until_done(*args, **options)
        finally:
            if not connection.needs_rollback:
                self._set(connection, lock_timeout="DEFAULT", statement_timeout="DEFAULT")

    def _until_done(self, *args: Any, **options: Any) -> None:
        for tries in range(1, self.tries + 1):
            try:
                super().handle(*args, **options)
            except OperationalError as problem:
                if getattr(problem.__cause__, "pgcode", "") != _LOCK_NOT_AVAILABLE:
                    raise
                self.stderr.write(
                    f"A table is in use: letting others pass, then trying again ({tries} of"
                    f" {self.tries})."
                )
            else:
                return
            self.pause(PAUSE_SECONDS)
        raise CommandError(
            "A table was in use all the time. Look for a long transaction (SELECT pid, xact_start,"
            " query FROM pg_stat_activity ORDER BY xact_start), end it, and migrate again."
        )

    def _set(self, connection: Any, **values: str) -> None:
        with connection.cursor() as cursor:
            for name, value in values.items():
                quoted = value if value == "DEFAULT" else f"'{value}'"
                cursor.execute(f"SET {name} TO {quoted}")
