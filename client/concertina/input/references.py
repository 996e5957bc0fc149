"""Which job does a person mean? An id, a name, or `team/name`.

Names are unique per team among live jobs only, so a name means the live job that bears it, and
else the newest one that did.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from concertina.errors import BadInput, NotFound
from concertina.states import LIVE_STATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from concertina.client import Client
    from concertina.documents import Job

_ID: Final = re.compile(r"^[23456789abcdefghjkmnpqrstuvwxyz]{10}$")


def find(client: Client, reference: str) -> Job:
    """The job that `reference` means.

    Raises:
        NotFound: none that this token may see.
        BadInput: live jobs of several teams bear the name.
    """
    if _ID.match(reference):
        try:
            return client.job(reference)
        except NotFound:
            pass  # a name may look like an id
    team, _, name = reference.rpartition("/")
    job = _live(client, team, name) or _newest(client, team, name)
    if job is None:
        raise NotFound(
            f"There is no job {reference!r}, or this token may not see it. "
            "`concertina ps --all` lists those it may."
        )
    return job


def _live(client: Client, team: str, name: str) -> Job | None:
    found = list(_named(client, team, name, LIVE_STATES))
    if len(found) > 1:
        choices = ", ".join(sorted(f"{job['team']}/{job['name']}" for job in found))
        raise BadInput(f"{name!r} is the name of several jobs. Say which: {choices}.")
    return found[0] if found else None


def _newest(client: Client, team: str, name: str) -> Job | None:
    return next(_named(client, team, name), None)


def _named(client: Client, team: str, name: str, states: Iterable[str] = ()) -> Iterator[Job]:
    jobs = client.jobs(search=name, team=team or None, states=states)
    return (job for job in jobs if job["name"] == name)
