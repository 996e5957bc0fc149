"""How does a collective end whose other side neither answers nor dies? Cut the group's sockets.

Gloo notices a peer only by its sockets: a stopped process keeps them open, and the time-out of a
collective has to be longer than anything a healthy worker may do meanwhile. When the coordinator
knows that a member is lost, a survivor cuts its own end: what waits there fails at once, and no
byte of the lost member can arrive later in memory that is used for something else by then.

Gloo tells neither Python nor anybody else which sockets are its own. But it passes the address of
each member's listener through the store, and every connection has one of these at one end.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Final

Address = tuple[str, int]

_FAMILIES: Final = (socket.AF_INET, socket.AF_INET6)
_HOST_BYTES: Final = {socket.AF_INET: slice(4, 8), socket.AF_INET6: slice(8, 24)}


class Wires:
    """The connections of one group, as far as they are known; may be cut by any thread."""

    def __init__(self) -> None:
        self._listeners: set[Address] = set()
        self._endings: list[Callable[[], object]] = []
        self.are_cut = False  # nobody may wait for this group any more

    def note(self, value: bytes) -> None:
        """Something that passed through the store of the group: maybe a member's address."""
        self._listeners |= addresses_in(value)

    def cut(self) -> None:
        """Every operation of the group fails, here and soon at the other members."""
        self.are_cut = True
        for descriptor in Path("/proc/self/fd").iterdir():
            with contextlib.suppress(OSError):  # closed meanwhile, or no socket
                self._cut_if_own(descriptor)
        for end in self._endings:
            end()

    def when_cut(self, end: Callable[[], object]) -> None:
        """Call this as well, once more than once if need be; at once when they are cut already."""
        self._endings.append(end)
        if self.are_cut:
            end()

    def _cut_if_own(self, descriptor: Path) -> None:
        if not descriptor.readlink().name.startswith("socket:"):
            return
        with socket.socket(fileno=os.dup(int(descriptor.name))) as candidate:
            if candidate.family in _FAMILIES and self._listeners & _ends(candidate):
                candidate.shutdown(socket.SHUT_RDWR)


def addresses_in(value: bytes) -> set[Address]:
    """Addresses in the form the kernel knows (`sockaddr`), at any even place of the value."""
    found = set()
    for start in range(0, len(value) - 28 + 1, 2):
        family = int.from_bytes(value[start : start + 2], "little")
        port = struct.unpack_from("!H", value, start + 2)[0]
        if family in _FAMILIES and port:
            host = value[start:][_HOST_BYTES[socket.AddressFamily(family)]]
            found.add((socket.inet_ntop(family, host), port))
    return found


def _ends(candidate: socket.socket) -> set[Address]:
    """Raises OSError when it is not connected: a listener goes with its device."""
    return {candidate.getpeername()[:2], candidate.getsockname()[:2]}
