"""May those who follow logs still do so? This takes a few queries every few seconds in all.

As with `final_jobs`, no stream keeps a database connection: all of a process share these questions.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Collection
from enum import StrEnum
from typing import Final

from asgiref.sync import sync_to_async
from django.db import InterfaceError, OperationalError, close_old_connections, connection
from tenancy.access import grants
from tenancy.access.grants import Grant

from jobs.models import Job

_ASK_EVERY_SECONDS: Final = 5.0  # guessed: how long a stream may outlive a token
_VALID_SECONDS: Final = 60.0  # without an answer of the database


class GrantState(StrEnum):
    """Is a grant still valid, as far as is known?"""

    VALID = "valid"  # as far as is known
    WITHDRAWN = "withdrawn"  # revoked, expired, logged out, or no member any more
    UNCONFIRMED = "unconfirmed"  # nobody could be asked for a minute


class FollowedGrants:
    """Remembers which grants are in use by followers, and asks about all of them at once."""

    def __init__(self) -> None:
        self._followed: Counter[Grant] = Counter()
        self._confirmed_at: dict[Grant, float] = {}
        self._withdrawn: set[Grant] = set()
        self._asked_at = time.monotonic()
        self._lock = asyncio.Lock()

    def follow(self, grant: Grant) -> None:
        """Begin to watch a grant, which was found valid just now."""
        self._followed[grant] += 1
        self._confirmed_at[grant] = time.monotonic()
        self._withdrawn.discard(grant)

    def unfollow(self, grant: Grant) -> None:
        self._followed[grant] -= 1
        if not self._followed[grant]:
            del self._followed[grant]
            self._confirmed_at.pop(grant, None)
            self._withdrawn.discard(grant)

    async def look_at(self, grant: Grant) -> GrantState:
        """Return the state of a grant that is watched."""
        async with self._lock:
            if time.monotonic() - self._asked_at >= _ASK_EVERY_SECONDS:
                await self._ask()
        if grant in self._withdrawn:
            return GrantState.WITHDRAWN
        age = time.monotonic() - self._confirmed_at.get(grant, 0.0)
        return GrantState.UNCONFIRMED if age > _VALID_SECONDS else GrantState.VALID

    async def _ask(self) -> None:
        followed = frozenset(self._followed)
        valid = await _still_valid(followed)
        self._asked_at = time.monotonic()
        if valid is None:
            return
        still = followed & set(self._followed)
        self._withdrawn |= still - valid
        self._confirmed_at.update(dict.fromkeys(still & valid, self._asked_at))


@sync_to_async(thread_sensitive=False)
def _still_valid(followed: frozenset[Grant]) -> set[Grant] | None:
    """Return those still valid; None if the database does not answer.

    That of a limited token is so as long as its job is within the bounds of the token.
    """
    close_old_connections()
    try:
        valid = grants.still_valid(followed)
        return valid - _beyond_reach(valid)
    except (OperationalError, InterfaceError):
        return None
    finally:
        connection.close()


def _beyond_reach(followed: Collection[Grant]) -> set[Grant]:
    """Return those whose job is none of the limited token's any more."""
    limited = [(grant, grant.bounds) for grant in followed if grant.bounds is not None]
    if not limited:
        return set()
    jobs = Job.objects.filter(pk__in={grant.job_id for grant, _ in limited})
    placed = {job: place for job, *place in jobs.values_list("pk", "pool__name", "labels")}
    return {
        grant
        for grant, bounds in limited
        if grant.job_id not in placed or not bounds.hold(*placed[grant.job_id])
    }
