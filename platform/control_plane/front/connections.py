"""May one more connection stay? So many of all, and half as many of one address.

Who would be one too many takes the place of the oldest connection that asks for nothing: of the
same address, or of the one that has most. So to open connections and to say nothing takes no place
from anybody who asks.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, Protocol

SHARE_OF_ONE_ADDRESS: Final = 0.5  # of the connections


class Connection(Hashable, Protocol):
    """What must be known of a connection."""

    @property
    def is_idle(self) -> bool:
        """Whether it waits for a request, or for the rest of its head."""

    def push_out(self) -> None:
        """Close it."""


class Connections:
    """Those of one process, by address, oldest first."""

    def __init__(self, most: int, *, most_of_one: int) -> None:
        self._most = most
        self._most_of_one = most_of_one
        self._here: dict[str, dict[Connection, None]] = {}
        self._address: dict[Connection, str] = {}

    def __len__(self) -> int:
        return len(self._address)

    def enter(self, address: str, connection: Connection) -> bool:
        """Let it in, if need be in the place of another; False: there is none."""
        if not self._has_room(address) and not self._make_room(address):
            return False
        self._here.setdefault(address, {})[connection] = None
        self._address[connection] = address
        return True

    def leave(self, connection: Connection) -> None:
        """It is closed, or was never let in."""
        address = self._address.pop(connection, None)
        if address is None:
            return
        del self._here[address][connection]
        if not self._here[address]:
            del self._here[address]

    def _has_room(self, address: str) -> bool:
        return len(self) < self._most and not self._is_full(address)

    def _is_full(self, address: str) -> bool:
        return len(self._here.get(address, ())) >= self._most_of_one

    def _make_room(self, address: str) -> bool:
        """Push out the oldest idle one of the address, or of the one with most connections."""
        crowd = self._here[address] if self._is_full(address) else max(self._here.values(), key=len)
        idle = next((one for one in crowd if one.is_idle), None)
        if idle is None:
            return False
        self.leave(idle)
        idle.push_out()
        return True
