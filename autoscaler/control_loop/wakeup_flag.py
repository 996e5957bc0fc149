"""Is a tick on its way already? A flag in Redis, which the first who wants one raises."""

from __future__ import annotations

import logging
import os
from functools import lru_cache
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
    return bool(kept_client().set(_KEY, "1", nx=True, ex=_KEY_SECONDS))


def lower_flag() -> None:
    """A tick begins: whoever wants one from now on gets another one."""
    try:
        kept_client().delete(_KEY)
    except (redis.RedisError, OSError) as problem:
        _log.warning("Redis does not answer: %s", problem, extra={"action": "tick"})


def redis_client(*, retry: Retry | None = None) -> redis.Redis:
    """A new client, for this call.

    It tries once: whoever asks for a tick must not wait for a Redis that is away.
    """
    url: str = settings.CONCERTINA.redis_url
    return redis.Redis.from_url(
        url,
        socket_timeout=2,
        socket_connect_timeout=2,
        retry=retry or Retry(NoBackoff(), 0),
        driver_info=None,  # to tell who we are takes longer than all the rest
    )


def kept_client() -> redis.Redis:
    """Return this process's client, for messages that are many and short."""
    return _of_process(settings.CONCERTINA.redis_url, os.getpid())


@lru_cache(maxsize=2)
def _of_process(_url: str, _process: int) -> redis.Redis:
    """Each process has its own: one that is shared over a fork may wait for its lock.

    A connection that was closed meanwhile is made again at once; nothing is waited for twice.
    """
    again = Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,))
    return redis_client(retry=again)
