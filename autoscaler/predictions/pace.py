"""How often may be looked ahead? So rarely that it takes no more than its share of a core.

A prediction of 1,000 jobs takes minutes of a core, one of 50 some seconds. After each there is a
rest, in proportion to what it took: in a small cluster it is over before the next time, in a large
one predictions are older. It is kept in Redis, for all processes that might look ahead.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Protocol

import redis

SHARE_OF_A_CORE: Final = 0.25  # guessed: background work leaves most of a processor to the others
_SHORTEST_REST: Final = 15.0  # seconds: nobody asks more often
_LONGEST_REST: Final = 1800.0  # guessed: older predictions help nobody
_KEY: Final = "concertina:looks-ahead-again-later"

_log = logging.getLogger(__name__)


class PaceStore(Protocol):
    """What is asked of Redis."""

    def exists(self, key: str, /) -> object: ...

    def set(self, key: str, value: str, /, *, ex: int) -> object: ...


def rest_seconds(worked: float) -> float:
    """Return how long to rest after so many seconds of processor time; 0: not at all."""
    rest = worked / SHARE_OF_A_CORE - worked
    return 0.0 if rest <= _SHORTEST_REST else min(rest, _LONGEST_REST)


@contextmanager
def paced(store: PaceStore, *, clock: Callable[[], float]) -> Iterator[bool]:
    """True: work now, and rest afterwards; False: rest still. `clock` counts processor time.

    Without Redis nobody rests, but nobody is asked to work either.
    """
    try:
        rests = bool(store.exists(_KEY))
    except (redis.RedisError, OSError):
        rests = False
    if rests:
        yield False
        return
    began = clock()
    try:
        yield True
    finally:
        _rest(store, rest_seconds(clock() - began))


def _rest(store: PaceStore, seconds: float) -> None:
    if not seconds:
        return
    try:
        store.set(_KEY, "1", ex=math.ceil(seconds))
    except (redis.RedisError, OSError) as problem:
        _log.warning("Redis does not answer: %s", problem, extra={"action": "look_ahead"})
