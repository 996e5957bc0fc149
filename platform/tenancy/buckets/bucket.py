"""What is a bucket, and what does taking a token from it come to?"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """Holds `capacity` tokens, and gets `per_second` new ones until it is full."""

    key: str
    capacity: int
    per_second: float
    tokens: int = 1  # to be taken, at once or not at all

    @property
    def window_seconds(self) -> int:
        """An empty one is full again after so long."""
        return max(math.ceil(self.capacity / self.per_second), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """Whether each of some buckets gave its tokens; if one had too few, none gave any."""

    is_allowed: bool
    remaining: int  # tokens in the emptiest
    reset_seconds: float  # until all are full again
    wait_seconds: float  # until each has enough; 0 where it had
