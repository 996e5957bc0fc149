"""Which of Ray's daemons (raylets) is the one of this machine?

Ray takes any that it finds in the list of processes, and that of a head before all others. Who sees
processes of other machines, as the host of containers does, is given the sockets of one of these:
there are none of that name here, and Ray ends the process that asked for them.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_ADDRESS: Final = "--node_ip_address="
_HEAD: Final = "--gcs-address="
_ID: Final = "--node_id="
_LOOK_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenRaylet:
    """A raylet that is in the list of processes, of this machine or of another one."""

    address: str
    head: str  # of its cluster


def seen_raylets(processes: Path = Path("/proc")) -> frozenset[SeenRaylet] | None:
    """Return all that can be seen; None: this system has no such list."""
    if not (processes / "self" / "cmdline").exists():
        return None
    return frozenset(
        SeenRaylet(address=_said(words, _ADDRESS), head=_said(words, _HEAD))
        for words in map(_words, processes.glob("[0-9]*/cmdline"))
        if words and words[0].endswith("raylet")
    )


def await_end(ray_id: str, processes: Path = Path("/proc")) -> bool:
    """Return when the raylet of this id has ended; False: it cannot be seen at all.

    A program whose raylet ended is not told by Ray, and only some of its questions are answered.
    """
    word = f"{_ID}{ray_id}"
    files = processes.glob("[0-9]*/cmdline")
    file = next((one for one in files if word in _words(one)), None)
    if file is None:
        return False
    while word in _words(file):
        time.sleep(_LOOK_SECONDS)
    return True


def own_address(
    seen: Collection[SeenRaylet], *, head: str, has: Callable[[str], bool] | None = None
) -> str | None:
    """Return the address of this machine's raylet, where others could be mistaken for it.

    None: Ray may take what it finds. So it is where addresses tell nothing: Ray looks for no
    loopback, and of several that are here none is to be preferred.

    Args:
        seen: whatever `seen_raylets` saw.
        head: the address of the head whose cluster is wanted.
        has: whether this machine has an address.
    """
    of_cluster = {raylet.address for raylet in seen if raylet.head == head}
    addresses = of_cluster or {raylet.address for raylet in seen}  # the head goes by two names
    own = [address for address in addresses if (has or is_here)(address)]
    if len(own) != 1 or len(addresses) == 1 or _is_loopback(own[0]):
        return None
    return own[0]


def is_here(address: str) -> bool:
    """True if this machine has the address."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as trial:
            trial.bind((address, 0))
    except OSError:
        return False
    return True


def _words(command_line: Path) -> list[str]:
    with contextlib.suppress(OSError):  # else it ended
        return command_line.read_bytes().replace(b"\0", b" ").decode(errors="replace").split()
    return []


def _said(words: Collection[str], option: str) -> str:
    return next((word.removeprefix(option) for word in words if word.startswith(option)), "")


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return True  # a name: what it stands for is not ours to say
