"""Who alone may do something, as long as their session with the database lasts?

An advisory lock of PostgreSQL goes with the connection: a killed process frees it at once, and
nobody waits for a time-out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.db import Error, connection


@contextmanager
def session_lock(number: int) -> Iterator[bool]:
    """Hold the lock of this number; False: another session does."""
    if not _try(number):
        yield False
        return
    try:
        yield True
    finally:
        _free(number)


def _try(number: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [number])
        (is_ours,) = cursor.fetchone()
    return bool(is_ours)


def _free(number: int) -> None:
    """A broken connection has freed it already; what broke it must not be hidden by this."""
    with suppress(Error), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_unlock(%s)", [number])
