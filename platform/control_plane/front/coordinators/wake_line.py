"""How does this process hear of wake-ups? By one subscription, and it knows when that is cut."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterable
from typing import Any, Final, Protocol

import redis
import redis.asyncio
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from control_plane.front.coordinators.publishing import CHANNEL

_TIMEOUT_SECONDS: Final = 2.0  # to connect, and to subscribe
_SILENCE_SECONDS: Final = 10.0  # then Redis is asked whether it is still there
_AGAIN_SECONDS: Final = 2.0  # guessed: between two tries to reach it

_log = logging.getLogger(__name__)


class Woken(Protocol):
    """Whoever holds requests."""

    def wake(self, job_ids: Iterable[str]) -> None: ...
    def drop_all(self) -> None: ...


class WakeLine:
    """Passes messages on, once somebody wants to hear them; tries again while Redis is away."""

    def __init__(self, redis_url: str, woken: Woken) -> None:
        self._redis_url = redis_url
        self._woken = woken
        self._is_open = asyncio.Event()
        self._listening: asyncio.Task[None] | None = None

    async def is_open(self) -> bool:
        """True if messages arrive; a line that is just being opened is waited for."""
        if self._listening is None or self._listening.done():
            self._listening = asyncio.create_task(self._listen())
        try:
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                return await self._is_open.wait()
        except TimeoutError:
            return False

    async def close(self) -> None:
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)

    async def _listen(self) -> None:
        while True:
            try:
                await self._listen_until_it_is_cut()
            except (redis.RedisError, OSError) as problem:
                extra = {"action": "wake"}
                _log.warning("Coordinators cannot be woken now: %s", problem, extra=extra)
            finally:
                self._is_open.clear()
                self._woken.drop_all()
            await asyncio.sleep(_AGAIN_SECONDS)

    async def _listen_until_it_is_cut(self) -> None:
        client = redis.asyncio.Redis.from_url(
            self._redis_url,
            socket_timeout=_TIMEOUT_SECONDS,
            socket_connect_timeout=_TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
        async with client, client.pubsub() as line:
            await line.subscribe(CHANNEL)
            has_asked = False
            while True:
                message = await line.get_message(timeout=_SILENCE_SECONDS)
                if message is not None:
                    has_asked = False
                    self._take(message)
                elif has_asked:
                    raise redis.TimeoutError("It does not answer.")
                else:
                    await line.ping()
                    has_asked = True

    def _take(self, message: dict[str, Any]) -> None:
        if message["type"] == "subscribe":
            self._is_open.set()
        elif message["type"] == "message":
            self._woken.wake(json.loads(message["data"]))
