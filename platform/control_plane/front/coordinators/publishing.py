"""How does whoever changed a job wake its coordinator? By one message to all processes of `api`.

It goes through Redis, once what was changed is committed. Where Redis does not answer nobody is
woken: coordinators ask again anyway, and ticks must not wait for it. Those that were not woken then
are woken with the next.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Collection
from typing import Any, Final

import redis

from autoscaler.control_loop.wakeup_flag import kept_client
from jobs.changes.wake_signal import wanted_changed

CHANNEL: Final = "concertina:wake"
_NOT_ASKED_SECONDS: Final = 2.0  # once it did not answer
_NAME: Final = "control_plane.front.coordinators"

_log = logging.getLogger(__name__)


class Publisher:
    """Tells all processes of `api` which jobs have changed; remembers that Redis is away."""

    def __init__(self) -> None:
        self._not_before = 0.0
        self._owed: set[str] = set()  # jobs whose coordinators nobody has woken yet

    def publish(self, job_ids: Collection[str]) -> None:
        """Send one message."""
        self._owed.update(job_ids)
        if time.monotonic() < self._not_before:
            return
        try:
            kept_client().publish(CHANNEL, json.dumps(sorted(self._owed)))
            self._owed.clear()
        except (redis.RedisError, OSError) as problem:
            self._not_before = time.monotonic() + _NOT_ASKED_SECONDS
            extra = {"action": "wake"}
            _log.warning("Coordinators are not woken now: %s", problem, extra=extra)


def connect() -> None:
    """Wake coordinators, from now on, of jobs of which something else is wanted; called once."""
    publisher = Publisher()

    def on_wanted_changed(*, job_ids: Collection[str], **_: Any) -> None:
        publisher.publish(job_ids)

    wanted_changed.connect(on_wanted_changed, weak=False, dispatch_uid=_NAME)
