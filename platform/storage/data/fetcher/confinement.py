"""How is a fetcher kept small? By bounds of memory, and an end with whoever gave the order."""

from __future__ import annotations

import logging
import os
import resource
import threading
from typing import Final

from storage.data.destinations import Reach
from storage.data.fetcher.guard import Guard

MOST_MEMORY: Final = 4 << 30  # of addresses; guessed: far above what reading takes
_ALONE: Final = 3  # exit code: whoever gave the order is gone


def read_order() -> bytes:
    """Return the line on the standard input, which stays open for as long as it is wanted."""
    with os.fdopen(os.dup(0), "rb", buffering=0) as orders:
        line: bytes = orders.readline()
    return line


def confine(reach: Reach) -> Guard:
    """Keep this process within its bounds from now on, for as long as it lives."""
    threading.Thread(target=_end_with_the_service, daemon=True).start()
    logging.disable(logging.CRITICAL)  # libraries tell what they ask for
    os.nice(10)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    guard = Guard(reach)
    guard.install()
    return guard


def _end_with_the_service() -> None:
    while os.read(0, 1):  # not sys.stdin, which cannot be closed while it is waited for
        pass
    os._exit(_ALONE)
