"""How long does a tick wait for a row that a request holds? A moment; then that job has to wait.

Whoever writes of a job holds its row, its coordinator's reports included. A tick that waited for
one of them would keep every team's jobs waiting.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from django.db import Error, OperationalError, connection

FIRST_SECONDS: Final = 1.0  # guessed: many times what a report takes; trades a tick for a job
FURTHER_SECONDS: Final = 0.1  # once a row was waited for in vain: others may be held as well

_LOCK_NOT_AVAILABLE: Final = "55P03"  # PostgreSQL's code for it

_log = logging.getLogger(__name__)


@contextmanager
def impatiently() -> Iterator[None]:
    """No statement within waits longer for a row; it raises `OperationalError` instead."""
    _wait_at_most(FIRST_SECONDS)
    try:
        yield
    finally:
        with suppress(Error), connection.cursor() as cursor:  # a broken one has forgotten it
            cursor.execute("RESET lock_timeout")


def is_held(error: OperationalError, *, job_id: str, action: str) -> bool:
    """Whether it says that a row of this job is held; what comes then waits for less long."""
    if getattr(error.__cause__, "pgcode", None) != _LOCK_NOT_AVAILABLE:
        return False
    extra = {"action": action, "job_id": job_id}
    _log.warning("A job's row is held; it waits for the next tick.", extra=extra)
    _wait_at_most(FURTHER_SECONDS)
    return True


def _wait_at_most(seconds: float) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, false)", [f"{seconds * 1000:.0f}ms"])
