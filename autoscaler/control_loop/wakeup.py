"""How is a tick asked for before its time? Many may ask at once; one tick answers them all."""

from __future__ import annotations

import logging
from typing import Final

import redis
from django.conf import settings
from kombu.exceptions import OperationalError
from redis.backoff import NoBackoff
from redis.retry import Retry

_KEY: Final = "concertina:tick-is-asked-for"
DEBOUNCE_SECONDS: Final = 0.2  # what happens together is planned together
_KEY_SECONDS: Final = 5  # should the task be lost, asking works again after so long

_log = logging.getLogger(__name__)


def ask_for_tick() -> bool:
    """Ask for a tick soon; False when one is on its way, or Redis does not answer."""
    from autoscaler.control_loop.tasks import tick  # noqa: PLC0415 - tasks imports this module

    try:
        with _redis() as client:
            is_first = client.set(_KEY, "1", nx=True, ex=_KEY_SECONDS)
        if not is_first:
            return False
        tick.apply_async(countdown=DEBOUNCE_SECONDS, expires=60, retry=False)
    except (redis.RedisError, OperationalError, OSError) as problem:
        extra = {"action": "ask_for_tick"}
        _log.warning("A tick could not be asked for: %s", problem, extra=extra)
        return False
    return True


def answer() -> None:
    """A tick begins: whoever asks from now on gets another one."""
    try:
        with _redis() as client:
            client.delete(_KEY)
    except (redis.RedisError, OSError) as problem:
        _log.warning("Redis does not answer: %s", problem, extra={"action": "tick"})


def _redis() -> redis.Redis:
    """A client of its own for each call: one that is shared over a fork may wait for its lock.

    It tries once: whoever asks for a tick must not wait for a Redis that is away.
    """
    url: str = settings.CONCERTINA.redis_url
    once = Retry(NoBackoff(), 0)
    return redis.Redis.from_url(url, socket_timeout=2, socket_connect_timeout=2, retry=once)
