"""Is there room for one more stream? Each person or token, team and process has a bound.

Slots of a person, token or team are counted over all processes. A thread renews those that this
process still holds, and gives back the others.
"""

from __future__ import annotations

import queue
import threading
import time
import uuid
from collections import deque
from contextlib import suppress
from typing import Final

from django.conf import settings
from rest_framework import exceptions, status

from control_plane.api.logs.shared_slots import LEASE_SECONDS, SharedSlots, StreamSlot

MOST_OF_ONE: Final = 8  # guessed: a person's windows, a pipeline's jobs
MOST_OF_TEAM: Final = 64  # guessed: a third of what one process serves
MOST_OF_ALL: Final = 200  # guessed: what one process of api serves beside its requests
RENEW_SECONDS: Final = LEASE_SECONDS / 3
_RETRY_SECONDS: Final = 5.0


class TooManyOfOne(exceptions.Throttled):
    """Somebody has as many streams as one person may."""

    def __init__(self, most: int) -> None:
        super().__init__(
            wait=_RETRY_SECONDS,
            detail=f"You have {most} streams already, the most that one person or token may"
            " have: logs that you follow, jobs that you wait for, and downloads. End one of them.",
        )


class TooManyOfTeam(exceptions.Throttled):
    """A team's people and tokens have as many streams as one team's may."""

    def __init__(self, most: int) -> None:
        super().__init__(
            wait=_RETRY_SECONDS,
            detail=f"This team has {most} streams already, the most that it may have: logs that"
            " are followed, jobs that are waited for, and downloads. End one of them.",
        )


class TooManyOfAll(exceptions.APIException):
    """This process serves as many streams as it can."""

    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_detail = "There are too many streams here at once; try again in a moment."
    wait = _RETRY_SECONDS


class StreamSlots:
    """Counts who holds how many streams."""

    def __init__(self, shared: SharedSlots | None = None) -> None:
        self._shared = shared
        self._held: set[StreamSlot] = set()
        self._left: deque[StreamSlot] = deque()
        self._bell: queue.SimpleQueue[None] = queue.SimpleQueue()  # a finalizer may ring it
        self._lock = threading.Lock()
        self._keeper: threading.Thread | None = None

    def take(self, holder: str, *, team: str, is_spare: bool = False) -> StreamSlot:
        """Take a slot until `leave`; a spare one leaves a quarter to those who have no other way.

        Raises:
            TooManyOfOne, TooManyOfTeam, TooManyOfAll: no slot is free.
        """
        of_one, of_team, of_all = (
            most * 3 // 4 if is_spare else most for most in (MOST_OF_ONE, MOST_OF_TEAM, MOST_OF_ALL)
        )
        slot = StreamSlot(name=uuid.uuid4().hex, holder=holder, team=team)
        with self._lock:
            self._settle()
            if self._of(holder) >= of_one:
                raise TooManyOfOne(of_one)
            if self._of_team(team) >= of_team:
                raise TooManyOfTeam(of_team)
            if len(self._held) >= of_all:
                raise TooManyOfAll
            full = self._known.is_full(slot, of_holder=of_one, of_team=of_team)
            if full:
                raise TooManyOfOne(of_one) if full == 1 else TooManyOfTeam(of_team)
            self._held.add(slot)
            self._start_keeper()
        return slot

    def leave(self, slot: StreamSlot) -> None:
        """Return a slot, without the lock: the garbage collector calls this as well."""
        self._left.append(slot)
        self._bell.put(None)

    def count(self, holder: str) -> int:
        """Count the slots that the holder has in this process."""
        with self._lock:
            self._settle()
            return self._of(holder)

    def look_after(self) -> None:
        """Give back the slots that were left, and renew the others."""
        with self._lock:
            self._settle()
            held = list(self._held)
        if held:
            self._known.renew(held)

    @property
    def _known(self) -> SharedSlots:
        if self._shared is None:
            self._shared = SharedSlots(settings.CONCERTINA.redis_url)
        return self._shared

    def _of(self, holder: str) -> int:
        return sum(one.holder == holder for one in self._held)

    def _of_team(self, team: str) -> int:
        return sum(one.team == team for one in self._held)

    def _settle(self) -> None:
        gone = []
        while self._left:
            gone.append(self._left.popleft())
        if gone:
            self._held.difference_update(gone)
            self._known.leave(gone)

    def _start_keeper(self) -> None:
        if self._keeper is None:
            self._keeper = threading.Thread(
                target=self._keep_looking, name="stream-slots", daemon=True
            )
            self._keeper.start()

    def _keep_looking(self) -> None:
        """Give slots back at once, and renew the others in time, however many are given back."""
        renew_at = time.monotonic() + RENEW_SECONDS
        while True:
            with suppress(queue.Empty):
                self._bell.get(timeout=max(renew_at - time.monotonic(), 0.0))
            if time.monotonic() < renew_at:
                with self._lock:
                    self._settle()
                continue
            self.look_after()
            renew_at = time.monotonic() + RENEW_SECONDS
