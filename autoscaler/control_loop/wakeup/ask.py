"""How does a tick come before its time? Many may want one at once; one tick serves them all."""

from __future__ import annotations

import logging
from typing import Final

import redis
from kombu.exceptions import OperationalError

from autoscaler.control_loop.tasks import tick
from autoscaler.control_loop.wakeup_flag import raise_flag

DEBOUNCE_SECONDS: Final = 0.2  # what happens together is planned together

_log = logging.getLogger(__name__)


def ask_for_tick() -> bool:
    """Ask for a tick soon; False when one is on its way, or Redis does not answer."""
    try:
        if not raise_flag():
            return False
        tick.apply_async(countdown=DEBOUNCE_SECONDS, expires=60, retry=False)
    except (redis.RedisError, OperationalError, OSError) as problem:
        extra = {"action": "ask_for_tick"}
        _log.warning("A tick could not be asked for: %s", problem, extra=extra)
        return False
    return True
