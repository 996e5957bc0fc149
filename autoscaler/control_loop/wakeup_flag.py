"""Is a tick on its way already? A flag in Redis, which the first who wants one raises."""

from __future__ import annotations

import logging
from typing import Final

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

_KEY: Final = "concertina:tick-is-asked-for"
_KEY_SECONDS: Final = 5  # should the task be lost, asking works again after so long

_log = logging.getLogger(__name__)


def raise_flag() -> bool:
    """True for the first. Raises: redis.RedisError, OSError."""
    with redis_client() as client:
        return bool(client.set(_KEY, "1", nx=True, ex=_KEY_SECONDS))


def lower_flag() -> None:
    """A tick begins: whoever wants one from now on gets another one."""
    try:
        with redis_client() as client:
            client.delete(_KEY)
    except (redis.RedisError, OSError) as problem:
        _log.warning("Redis does not answer: %s", problem, extra={"action": "tick"})


def redis_client() -> redis.Redis:
    """A client of its own for each call: one that is shared over a fork may wait for its lock.

    It tries once: whoever asks for a tick must not wait for a Redis that is away.
    """
    url: str = settings.CONCERTINA.redis_url
    once = Retry(NoBackoff(), 0)
    return redis.Redis.from_url(
        url,
        socket_timeout=2,
        socket_connect_timeout=2,
        retry=once,
        driver_info=None,  # to tell who we are takes longer than all the rest
    )
