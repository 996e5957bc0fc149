"""May one more connection stay? There is a bound for all, and half of it for one address.

One connection too many replaces the oldest that asks for nothing: of the same address, or of the
one that has most. So whoever opens connections and says nothing takes no place from anybody who
asks. While connections are replaced like this, newcomers of an address come in one by one, in
order: being let in and pushed out again and again costs more than waiting.

Coordinators of many jobs may come from one address, of a machine or of a whole site. Once a job's
token has come by a connection, it counts as that job's and no longer as its address'.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable
from typing import Final, Protocol

SHARE_OF_ONE_ADDRESS: Final = 0.5  # of the connections
CHANGES_PER_SECOND: Final = 15.0  # of one address' places; each costs some milliseconds
LONGEST_WAIT_SECONDS: Final = 10.0  # as long as a connection is waited for
MOST_OF_ONE_JOB: Final = 4  # it reports and waits, and so may one that takes over
_MOST_KNOWN: Final = 10_000


class ClientConnection(Hashable, Protocol):
    """What has to be known about a connection."""

    @property
    def is_idle(self) -> bool:
        """True while it waits for a request, or for the rest of its head."""

    def push_out(self) -> None:
        """Close the connection."""


class ClientConnections:
    """The connections of one process, by address, oldest first."""

    def __init__(
        self, most: int, *, most_of_one: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._next_at: OrderedDict[str, float] = OrderedDict()  # may a place change, by address
        self._most = most
        self._most_of_one = most_of_one
        self._here: dict[str, dict[ClientConnection, None]] = {}  # by address, or job
        self._owner: dict[ClientConnection, str] = {}

    def __len__(self) -> int:
        return len(self._owner)

    def seconds_to_wait(self, address: str) -> float | None:
        """Return how long a newcomer waits before it enters; None if too many wait already."""
        if self._has_room(address):
            return 0.0
        now = self._clock()
        turn_at = max(self._next_at.get(address, now), now)
        if turn_at > now + LONGEST_WAIT_SECONDS:
            return None
        self._next_at[address] = turn_at + 1 / CHANGES_PER_SECOND
        self._next_at.move_to_end(address)
        while len(self._next_at) > _MOST_KNOWN:
            self._next_at.popitem(last=False)
        return turn_at - now

    def enter(self, address: str, connection: ClientConnection) -> bool:
        """Let it in, if need be instead of another; False if no other can go."""
        if not self._has_room(address) and not self._make_room(address):
            return False
        self._put(connection, address)
        return True

    def belongs_to(self, job: str, connection: ClientConnection) -> None:
        """Count it as the job's, whose token came by it, unless the job has too many at work."""
        present = self._here.get(job, {})
        if connection in present or connection not in self._owner:
            return
        if len(present) >= MOST_OF_ONE_JOB and not self._push_out_idle(present):
            return
        self.leave(connection)
        self._put(connection, job)

    def leave(self, connection: ClientConnection) -> None:
        """Forget a connection that is closed, or was never let in."""
        owner = self._owner.pop(connection, None)
        if owner is None:
            return
        del self._here[owner][connection]
        if not self._here[owner]:
            del self._here[owner]

    def _put(self, connection: ClientConnection, owner: str) -> None:
        self._here.setdefault(owner, {})[connection] = None
        self._owner[connection] = owner

    def _has_room(self, address: str) -> bool:
        return len(self) < self._most and not self._is_full(address)

    def _is_full(self, address: str) -> bool:
        return len(self._here.get(address, ())) >= self._most_of_one

    def _make_room(self, address: str) -> bool:
        """Push out the oldest idle one of the address, or of the one with most connections."""
        is_full = self._is_full(address)
        return self._push_out_idle(
            self._here[address] if is_full else max(self._here.values(), key=len)
        )

    def _push_out_idle(self, crowd: Collection[ClientConnection]) -> bool:
        """Push out the oldest that is idle; False: there is none."""
        idle = next((one for one in crowd if one.is_idle), None)
        if idle is None:
            return False
        self.leave(idle)
        idle.push_out()
        return True
