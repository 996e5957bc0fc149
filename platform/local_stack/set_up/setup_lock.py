"""How do two `./dev` of one checkout not set it up at the same time? One waits for the other."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from local_stack.checkout import Checkout
from local_stack.terminal import say

FLAGS = os.O_WRONLY | os.O_CREAT


@contextmanager
def alone(checkout: Checkout) -> Iterator[None]:
    """Hold the set-up lock of the checkout. The kernel drops it when the process ends."""
    for folder in (checkout.state_dir, checkout.logs_dir):
        folder.mkdir(mode=0o700, exist_ok=True)
    with os.fdopen(os.open(checkout.state_dir / "set-up.lock", FLAGS, 0o600), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another ./dev sets up this checkout; waiting for it…")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
