"""How often does a job report, and how far apart are points of its progress? The older, the less.

The curve of a job that has just begun is looked at closely; one that has trained for minutes looks
the same with a point every ten seconds, which is what is kept of it an hour later anyway.
"""

from __future__ import annotations

from typing import Final

from concertina_worker.protocol import OLD_REST_SECONDS, REST_SECONDS, SOON_SECONDS
from jobs.commands.observations.service_time import ServiceTime

OLD_AFTER_SECONDS: Final = 300.0
"""Guessed: trades how fine curves of short jobs are against rows of long ones, 250 bytes each."""
_WORTH_IT_SECONDS: Final = 2.0  # points come once a second: below two of them none is spared


def until_next_report(time: ServiceTime, *, is_at_rest: bool) -> float:
    """Return the pause in seconds."""
    return max(REST_SECONDS, _grown_seconds(time)) if is_at_rest else SOON_SECONDS


def between_points(time: ServiceTime) -> float:
    """Return the seconds that points are apart at least; 0: as they come."""
    seconds = _grown_seconds(time)
    return seconds if seconds >= _WORTH_IT_SECONDS else 0.0


def _grown_seconds(time: ServiceTime) -> float:
    """Count whole seconds, so that it rarely changes."""
    return round(OLD_REST_SECONDS * min(time.age_seconds / OLD_AFTER_SECONDS, 1.0))
