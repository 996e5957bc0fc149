"""How is something looked at all the time, while faults are inflicted and recovered from?"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def beside(look: Callable[[], None], *, every_seconds: float) -> Iterator[None]:
    """Look again and again in a thread of its own, until the block is over."""
    is_over = threading.Event()

    def run() -> None:
        while not is_over.wait(every_seconds):
            look()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
