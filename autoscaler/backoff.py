"""How long is it until something that failed is tried again? Longer after each failure in a row.

Whoever asks counts the failures, and decides what ends the row.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """Delays that grow by a factor, up to the longest."""

    first_seconds: float
    longest_seconds: float
    factor: float = 2.0

    def seconds_after(self, failures: int) -> float:
        """Return the delay after that many failures in a row; there is none after no failure."""
        if failures < 1:
            return 0.0
        try:
            growth = self.factor ** (failures - 1)
        except OverflowError:  # after a thousand failures
            return self.longest_seconds
        return min(self.first_seconds * growth, self.longest_seconds)
