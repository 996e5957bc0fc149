"""What is a bucket, and what is the result of taking a token from it?"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBucket:
    """Holds `capacity` tokens, and gets `per_second` new ones until it is full."""

    key: str
    capacity: int
    per_second: float
    tokens: int = 1  # to be taken, at once or not at all

    @property
    def window_seconds(self) -> int:
        """Return after how many seconds an empty bucket is full again."""
        return max(math.ceil(self.capacity / self.per_second), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokensTaken:
    """The result for several buckets: if one had too few tokens, none gave any."""

    is_allowed: bool
    remaining: int  # tokens in the emptiest
    reset_seconds: float  # until all are full again
    wait_seconds: float  # until each has enough; 0 where it had
