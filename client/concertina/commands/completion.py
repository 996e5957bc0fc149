"""Which jobs may a half-typed word mean? What a shell offers when one presses Tab.

Whoever presses it waits, so the service is asked once and not for long, and whatever goes wrong
offers nothing: the command itself says what is the matter.
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from concertina.errors import ConcertinaError

MOST: Final = 100  # names; more than that nobody reads


def completed_names(incomplete: str) -> list[str]:
    """Return names of jobs that begin so, the newest first; `team/name` once a team was typed."""
    from concertina.client import Client  # noqa: PLC0415 - only whoever presses Tab pays for it
    from concertina.connection import credentials  # noqa: PLC0415 - likewise
    from concertina.connection.retrying import RetryPolicy  # noqa: PLC0415 - likewise

    team, slash, begun = incomplete.rpartition("/")
    try:
        found = credentials.load()
        with Client(found.url, found.token, policy=RetryPolicy(patience_seconds=0.0)) as client:
            jobs = list(islice(client.jobs(search=begun or None, team=team or None), MOST))
    except ConcertinaError:
        return []
    names = dict.fromkeys(job["name"] for job in jobs if job["name"].startswith(begun))
    return [f"{team}{slash}{name}" for name in names]
