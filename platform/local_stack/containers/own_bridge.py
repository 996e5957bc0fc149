"""Which bridge does a Docker daemon of this checkout call its default? One of its own.

A daemon without one takes `docker0`, and one that is to have none deletes it: both would disturb
the machine's own daemon. Asked of the kernel directly, because not every machine has `ip`.
"""

from __future__ import annotations

import fcntl
import socket
import struct

ADD_BRIDGE, DELETE_BRIDGE = 0x89A0, 0x89A1  # SIOCBRADDBR, SIOCBRDELBR
SET_FLAGS = 0x8914  # SIOCSIFFLAGS; none set: the interface is down


def name_of(identity: str) -> str:
    """An interface's name has at most 15 letters."""
    return f"conc-{identity}"


def ensure(name: str) -> None:
    """Make the bridge unless it is there; the daemon gives it an address."""
    if not is_there(name):
        _ask(ADD_BRIDGE, name.encode() + b"\0")


def remove(name: str) -> None:
    """Remove it, without complaint if it is not there."""
    if is_there(name):
        _ask(SET_FLAGS, struct.pack("16sH14x", name.encode(), 0))
        _ask(DELETE_BRIDGE, name.encode() + b"\0")


def is_there(name: str) -> bool:
    try:
        socket.if_nametoindex(name)
    except OSError:
        return False
    return True


def _ask(request: int, argument: bytes) -> None:
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, request, argument)
