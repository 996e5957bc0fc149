"""In which network do the tests run? Each of several pytest processes in one of its own.

So nobody else has its ports, bridges and address ranges, and its browser, which breaks off what it
asks for when the machine's addresses change, does not notice the networks of others' containers.
That needs root, as private Docker daemons do; and servers that the environment names are outside.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

_CLONE_NEWNET: Final = 0x40000000  # see unshare(2)
_MADE_BY: Final = (
    "link set lo up",
    # Without an address besides the loopback's, browsers take themselves to be offline.
    "link add name outside type veth peer name nowhere",
    "address add 192.0.2.1/24 dev outside",
    "link set outside up",
    "link set nowhere up",
    "route add default dev outside",
)
# Of interfaces to come: their second address, seconds later, would be another change.
_NO_IPV6: Final = Path("/proc/sys/net/ipv6/conf/default/disable_ipv6")
# Nobody is out there: a look-up of a name need not ask for six seconds before it knows.
_ASKS_ANEW_AFTER: Final = Path("/proc/sys/net/ipv4/neigh/outside/retrans_time_ms")
_SERVERS: Final = frozenset({"DATABASE_URL", "REDIS_URL", "DOCKER_HOST"})

_entered = False


def is_entered() -> bool:
    """True if nobody else is in this process's network."""
    return _entered


def enter_if_possible() -> None:
    """Of this thread, and of the threads and processes that it starts."""
    global _entered  # noqa: PLW0603 - as the network, it is the process's
    if (
        os.geteuid() != 0
        or shutil.which("ip") is None
        or not os.environ.keys().isdisjoint(_SERVERS)
    ):
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNET) != 0:
        return  # a container that may not
    _NO_IPV6.write_text("1")
    for arguments in _MADE_BY:
        subprocess.run(("ip", *arguments.split()), check=True)
    _ASKS_ANEW_AFTER.write_text("10")
    _entered = True
