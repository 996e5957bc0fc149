"""How is a fetcher kept from where it should not call? Each connection is looked at as it is made.

The interpreter tells its audit hooks of each address before it connects, whichever library wants
it, and a hook cannot be taken away. So it holds for redirects, and for names that change.
"""

from __future__ import annotations

import socket
import sys
from typing import Final, Protocol

from storage.data.destinations import Destination, Reach

_CONNECTING: Final = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_FORBIDDEN: Final = frozenset({"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"})


class ForbiddenDestination(OSError):
    """A connection to where no store may be."""


class Guard:
    """Refuses connections for as long as the process lives, and remembers the last one refused."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self.refused = ""

    def install(self) -> None:
        sys.addaudithook(self._look)

    def _look(self, event: str, arguments: tuple[object, ...]) -> None:
        if event in _FORBIDDEN:
            raise ForbiddenDestination("A fetcher starts no programs.")
        if event not in _CONNECTING:
            return
        address = arguments[1]
        if address is None:  # of a socket that is connected already
            return
        self.refused = self._why_not(address) or self.refused
        if self.refused:
            raise ForbiddenDestination(self.refused)

    def _why_not(self, address: object) -> str:
        if not isinstance(address, tuple):
            return "a socket of this machine is no store"
        host, port = address[0], address[1]
        if not isinstance(host, str) or not isinstance(port, int):
            return "an address of this kind is no store's"
        return self._reach.why_not(host, port)


class CallRules(Protocol):
    """An order, as far as it says whom its fetcher may call."""

    @property
    def networks(self) -> tuple[str, ...]: ...

    @property
    def own(self) -> tuple[tuple[str, int], ...]: ...


def reach_of(order: CallRules, *, is_public: bool) -> Reach:
    """Return where its fetcher may call; `is_public`: public addresses, too."""
    return Reach(
        listed=tuple(Destination.parse(one) for one in order.networks),
        own=addresses_of(order.own),
        is_public=is_public,
    )


def addresses_of(hosts: tuple[tuple[str, int], ...]) -> frozenset[tuple[str, int]]:
    """Look names up; those that nobody knows are left out."""
    found = set()
    for host, port in hosts:
        try:
            answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError:
            continue
        found |= {(str(answer[4][0]), port) for answer in answers}
    return frozenset(found)
