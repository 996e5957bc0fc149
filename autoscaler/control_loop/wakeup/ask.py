"""How does a tick come before its time? Many may want one at once; one tick serves them all."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final

import redis
from kombu.exceptions import OperationalError

from autoscaler.control_loop.tasks import tick
from autoscaler.control_loop.wakeup_flag import raise_flag

DEBOUNCE_SECONDS: Final = 0.2  # what happens together is planned together
SERVED_SECONDS: Final = 0.15  # guessed: clearly before the tick that was asked for can begin

_log = logging.getLogger(__name__)


class Asker:
    """Asks for ticks, and remembers when it did: the tick sees all that comes before it begins.

    So a hundred jobs that are submitted in a second ask Redis a few times.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._served_until = -1.0

    def ask(self) -> bool:
        """Ask for a tick soon; False when one is on its way, or Redis does not answer."""
        now = self._clock()
        if now < self._served_until:
            return False
        try:
            if not raise_flag():
                return False
            tick.apply_async(countdown=DEBOUNCE_SECONDS, expires=60, retry=False)
        except (redis.RedisError, OperationalError, OSError) as problem:
            extra = {"action": "ask_for_tick"}
            _log.warning("A tick could not be asked for: %s", problem, extra=extra)
            return False
        self._served_until = now + SERVED_SECONDS
        return True


ask_for_tick: Final = Asker().ask
