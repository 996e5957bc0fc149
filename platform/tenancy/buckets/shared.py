"""Who counts? Redis, for all processes; while it does not answer, each process for itself.

An installation whose Redis is away thus still has bounds, each times the number of its processes.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Final

import redis
import redis.asyncio
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.retry import Retry

from tenancy.buckets import script
from tenancy.buckets.bucket import TokenBucket, TokensTaken
from tenancy.buckets.local import LocalBuckets

TIMEOUT_SECONDS: Final = 0.25
NOT_ASKED_SECONDS: Final = 2.0  # once Redis did not answer
_CONNECTIONS: Final = 64  # guessed: of a loop; who finds none in time takes Redis for away

logger: Final = logging.getLogger(__name__)
_FAILURES: Final = (redis.RedisError, OSError, TimeoutError)


class _Absence:
    """Remembers when Redis last failed to answer, and if it is time to ask again."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until = -1.0

    @property
    def lasts(self) -> bool:
        return self._clock() < self._until

    def note(self, error: Exception) -> None:
        if self._until < 0:
            logger.warning(
                "Redis does not answer; each process counts requests for itself.",
                extra={"action": "limit", "error": str(error)},
            )
        self._until = self._clock() + NOT_ASKED_SECONDS

    def end(self) -> None:
        self._until = -1.0


class AsyncBuckets:
    """Buckets for an event loop. Each call is one round trip."""

    def __init__(self, redis_url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = redis.asyncio.Redis(
            connection_pool=redis.asyncio.BlockingConnectionPool.from_url(
                redis_url,
                max_connections=_CONNECTIONS,
                timeout=TIMEOUT_SECONDS,
                socket_timeout=TIMEOUT_SECONDS,
                socket_connect_timeout=TIMEOUT_SECONDS,
                retry=AsyncRetry(NoBackoff(), 0),
            )
        )
        self._script = self._client.register_script(script.TAKE)
        self._local = LocalBuckets(clock)
        self._absence = _Absence(clock)

    async def take(self, buckets: Sequence[TokenBucket]) -> TokensTaken:
        """Take a token of each of them, or of none."""
        if not self._absence.lasts:
            try:
                answer = await self._script(script.keys(buckets), script.arguments(buckets))
            except _FAILURES as error:
                self._absence.note(error)
            else:
                self._absence.end()
                return script.read(answer)
        return self._local.take(buckets)

    async def close(self) -> None:
        await self._client.aclose()
        await self._client.connection_pool.disconnect()


class SharedBuckets:
    """Buckets for threads."""

    def __init__(self, redis_url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = redis.Redis.from_url(
            redis_url,
            socket_timeout=TIMEOUT_SECONDS,
            socket_connect_timeout=TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
        self._script = self._client.register_script(script.TAKE)
        self._local = LocalBuckets(clock)
        self._absence = _Absence(clock)

    def take(self, buckets: Sequence[TokenBucket]) -> TokensTaken:
        """Take a token of each of them, or of none."""
        if not self._absence.lasts:
            try:
                answer = self._script(script.keys(buckets), script.arguments(buckets))
            except _FAILURES as error:
                self._absence.note(error)
            else:
                self._absence.end()
                return script.read(answer)
        return self._local.take(buckets)

    def forget(self, key: str) -> None:
        """Fill a bucket again."""
        self._local.forget(key)
        try:
            self._client.delete(key)
        except _FAILURES as error:
            self._absence.note(error)

    def remember(self, key: str, *, seconds: int) -> None:
        """Keep a note for so long; without Redis it is not kept."""
        try:
            self._client.set(key, "1", ex=seconds)
        except _FAILURES as error:
            self._absence.note(error)

    def remembers(self, key: str) -> bool:
        """True if a note is there."""
        if self._absence.lasts:
            return False
        try:
            return bool(self._client.exists(key))
        except _FAILURES as error:
            self._absence.note(error)
            return False
