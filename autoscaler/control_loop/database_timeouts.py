"""How long does a tick wait for the database, and the database for a tick?

Whoever writes of a job holds its row, its coordinator's reports included: a tick that waited for
one of them would keep every team's jobs waiting. Nor does it wait for ever for a statement that
hangs. A tick that was frozen holds locks itself; after a while the database ends its session, so
that another process can go on. When it wakes up, its session has ended, and with it its right to
tick. A tick whose machine vanished closes nothing: the database asks after it while it is silent,
so that a standby takes over within ten seconds.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

from django.db import Error, OperationalError, connection


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseTimeouts:
    """How long a tick waits for the database, in seconds; all are guesses."""

    row: float = 1.0  # many times what a report takes; trades a tick for a job
    statement: float = 60.0  # what a loaded database takes for the longest, many times over
    within_transaction: float = 60.0  # between two statements: a tick does nothing slow there
    between_statements: float = 300.0  # where it plans, and orders from slow nodes


USUALLY: Final = DatabaseTimeouts()
AFTER_ONE_IN_VAIN: Final = DatabaseTimeouts(
    row=0.1, statement=5.0
)  # once one job was waited for in vain

_SETTINGS: Final = {
    "lock_timeout": "row",
    "statement_timeout": "statement",
    "idle_in_transaction_session_timeout": "within_transaction",
    "idle_session_timeout": "between_statements",
}
ASKED_AFTER: Final = {  # PostgreSQL's names; together seven seconds. Guessed
    "tcp_keepalives_idle": "3s",
    "tcp_keepalives_interval": "2s",
    "tcp_keepalives_count": "2",
    "tcp_user_timeout": "7s",
}
_GIVEN_UP: Final = {  # PostgreSQL's codes
    "55P03": "A job's row is held",
    "57014": "A statement about a job takes too long",
}

_log = logging.getLogger(__name__)


@contextmanager
def time_limited(timeouts: DatabaseTimeouts = USUALLY) -> Iterator[None]:
    """No statement within waits longer; it raises `OperationalError` instead."""
    _set(_bounds(timeouts) | ASKED_AFTER)
    try:
        yield
    finally:
        with suppress(Error), connection.cursor() as cursor:  # a broken one has forgotten it
            cursor.execute("; ".join(f"RESET {name}" for name in (*_SETTINGS, *ASKED_AFTER)))


def is_given_up(error: OperationalError, *, job_id: str, action: str) -> bool:
    """True if the database gave up waiting for this job; what comes then waits for less long."""
    why = _GIVEN_UP.get(getattr(error.__cause__, "pgcode", None) or "")
    if why is None:
        return False
    extra = {"action": action, "job_id": job_id}
    _log.warning("%s; it waits for the next tick.", why, extra=extra)
    _set(_bounds(AFTER_ONE_IN_VAIN))
    return True


def _bounds(timeouts: DatabaseTimeouts) -> dict[str, str]:
    return {name: f"{getattr(timeouts, of) * 1000:.0f}ms" for name, of in _SETTINGS.items()}


def _set(values: Mapping[str, str]) -> None:
    settings = ", ".join(["set_config(%s, %s, false)"] * len(values))
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {settings}", [text for pair in values.items() for text in pair])
