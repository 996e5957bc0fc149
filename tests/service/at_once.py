"""What happens when two ask at once? The second asks while the first has not committed yet."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import connection, transaction

First = TypeVar("First")
Second = TypeVar("Second")


def ask_at_once(
    first: Callable[[], First],
    second: Callable[[], Second],
    *,
    meanwhile: Callable[[], None] = lambda: None,
) -> tuple[First, Second]:
    """What each returns. `second` runs in a connection of its own; its test needs real commits.

    While `second` waits, whoever was first does `meanwhile`.
    """
    with ThreadPoolExecutor(max_workers=1) as thread:
        with transaction.atomic():
            done_first = first()
            running = thread.submit(_apart, second)
            while not running.done() and not _somebody_waits():
                pass
            meanwhile()
        return done_first, running.result(timeout=60)


def _apart(ask: Callable[[], Second]) -> Second:
    try:
        return ask()
    finally:
        connection.close()


def _somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(0.01), pg_stat_clear_snapshot()")  # kept by transactions
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock')"
        )
        (row,) = cursor.fetchall()
    return bool(row[0])
