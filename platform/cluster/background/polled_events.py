"""How does a worker host without events of its own tell what changes? It looks again and again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from cluster.worker_host import ObservedProcess, ProcessListing, ProcessPhase


def polled(look: Callable[[], ProcessListing], *, poll_seconds: float) -> Iterator[ObservedProcess]:
    """Yield each process when it is first seen, and whenever its phase is another; never ends."""
    seen: dict[str, ProcessPhase] = {}
    while True:
        now = look().by_id()
        for process_id, process in now.items():
            if seen.get(process_id) is not process.phase:
                yield process
        seen = {process_id: process.phase for process_id, process in now.items()}
        time.sleep(poll_seconds)
