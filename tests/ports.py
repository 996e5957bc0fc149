"""On which port does a test's server listen that cannot be given port 0?"""

from __future__ import annotations

import os
from threading import Lock
from typing import Final

from local_stack import checkout

_FIRST: Final = 10_000  # below those that the service and the kernel choose by chance
_EACH: Final = 1_000  # for one of several pytest processes
_one_at_a_time: Final = Lock()  # tests that run several jobs start them in threads
_next = _FIRST + _EACH * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))


def free_port() -> int:
    """One that nobody listens on, and that no other call or process of this run is told."""
    global _next  # noqa: PLW0603 - ports are the machine's
    with _one_at_a_time:
        port = checkout.free_port(_next)
        _next = port + 1
    return port
