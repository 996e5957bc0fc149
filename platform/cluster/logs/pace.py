"""How fast is what a process writes taken up? So fast that a flood leaves others their turn.

What is not copied of a container in time stays with Docker, which keeps so much of it and drops the
oldest. A process without a container waits until what it wrote is taken up.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

BYTES_PER_SECOND: Final = 4 << 20  # guessed: thousands of lines a second, and a tenth of a core
_BURST_BYTES: Final = 16 << 20


class LogRateLimiter:
    """Lets through a burst, then so many bytes a second."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._clock, self._sleep = clock, sleep
        self._room = float(_BURST_BYTES)
        self._at = clock()

    def take(self, size: int) -> None:
        """Wait until so much may pass."""
        now = self._clock()
        self._room = min(self._room + (now - self._at) * BYTES_PER_SECOND, _BURST_BYTES) - size
        self._at = now
        if self._room < 0:
            self._sleep(-self._room / BYTES_PER_SECOND)
