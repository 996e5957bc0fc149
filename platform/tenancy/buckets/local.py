"""How are tokens taken while Redis is away? In the same way, but within this process alone."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final

from tenancy.buckets.bucket import TokenBucket, TokensTaken

_MOST_KNOWN: Final = 20_000
_ROUNDING: Final = 1e-6


class LocalBuckets:
    """The script's arithmetic in memory. The buckets that were unused for longest are forgotten."""

    def __init__(self, clock: Callable[[], float], *, most: int = _MOST_KNOWN) -> None:
        self._clock = clock
        self._most = most
        self._full_at: OrderedDict[str, float] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, buckets: Sequence[TokenBucket]) -> TokensTaken:
        with self._lock:
            return self._take(buckets)

    def _take(self, buckets: Sequence[TokenBucket]) -> TokensTaken:
        now = self._clock()
        full_at = {
            one.key: max(self._full_at.get(one.key, now), now) + one.tokens / one.per_second
            for one in buckets
        }
        missing = {key: at - now for key, at in full_at.items()}
        room = [one.capacity / one.per_second - missing[one.key] for one in buckets]
        reset = max(missing.values())
        if min(room) < -_ROUNDING:
            return TokensTaken(
                is_allowed=False, remaining=0, reset_seconds=reset, wait_seconds=-min(room)
            )
        self._remember(full_at)
        tokens = [seconds * one.per_second for seconds, one in zip(room, buckets, strict=True)]
        return TokensTaken(
            is_allowed=True,
            remaining=math.floor(min(tokens) + _ROUNDING),
            reset_seconds=reset,
            wait_seconds=0.0,
        )

    def forget(self, key: str) -> None:
        """Fill a bucket again."""
        with self._lock:
            self._full_at.pop(key, None)

    def _remember(self, full_at: dict[str, float]) -> None:
        for key, at in full_at.items():
            self._full_at[key] = at
            self._full_at.move_to_end(key)
        while len(self._full_at) > self._most:
            self._full_at.popitem(last=False)
