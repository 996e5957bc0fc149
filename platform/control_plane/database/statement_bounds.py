"""How long may a request's statement run, wait for a row, or lock one without doing anything?

A thread of `api` that waits for PostgreSQL is unavailable to everybody, and rows that one locks
without doing anything (its process is frozen, say) block whoever writes them. Longer statements are
given up and answered with 503. Background tasks do not wait longer for a row either, but their
statements may take longer; ticks and migrations have bounds of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

LOCK_SECONDS: Final = 5.0  # guessed: below the time-out of a coordinator that reports
SILENT_SECONDS: Final = 60.0  # guessed: in a transaction; what comes between statements is quick


def bounded(database: Mapping[str, Any], *, statement_seconds: float) -> dict[str, Any]:
    """Return a database's settings with bounds for its sessions' statements; 0 means no bound."""
    if not statement_seconds:
        return dict(database)
    bounds = {
        "statement_timeout": statement_seconds,
        "lock_timeout": min(LOCK_SECONDS, statement_seconds),
        "idle_in_transaction_session_timeout": SILENT_SECONDS,
    }
    return _with(database, bounds)


def bounded_in_background(database: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same for tasks that nobody waits for: the next run goes on."""
    return _with(database, {"lock_timeout": LOCK_SECONDS})


def _with(database: Mapping[str, Any], bounds: Mapping[str, float]) -> dict[str, Any]:
    given = database["OPTIONS"].get("options", "")
    ours = [f"-c {name}={seconds * 1000:.0f}" for name, seconds in bounds.items()]
    return {**database, "OPTIONS": {**database["OPTIONS"], "options": " ".join([given, *ours])}}
