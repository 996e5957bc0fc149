"""How long may a look wait now, given how long the last ones waited?

One that waits once in a while may take its time. If each had a reason to wait, as when somebody's
containers end all the time, together they would hold the ticks up that look.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

SHARE: Final = 0.05  # guessed: of the time, in the long run


@dataclass(slots=True, kw_only=True)
class SlowRefill:
    """Seconds to wait, which come back slowly once they are spent."""

    now: Callable[[], float] = time.monotonic
    _spent: float = field(default=0.0, init=False)
    _since: float = field(default=0.0, init=False)

    def left(self, most: float) -> float:
        """Return what is left of so many seconds at once."""
        self._refill()
        return max(most - self._spent, 0.0)

    def spend(self, wait: Callable[[], object]) -> None:
        """Wait, and count how long that took."""
        self._refill()
        began = self.now()
        try:
            wait()
        finally:
            self._spent += self.now() - began

    def _refill(self) -> None:
        now = self.now()
        self._spent = max(self._spent - SHARE * (now - self._since), 0.0)
        self._since = now
