"""Who holds stream slots in any process of `api`? Redis knows, until a process stops renewing.

A stream takes a slot of its holder and one of the team. Without Redis nobody is refused here; each
process still has bounds of its own.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from control_plane.web import leased_slots

LEASE_SECONDS: Final = 45
_TIMEOUT_SECONDS: Final = 0.25
_FAILURES: Final = (redis.RedisError, OSError, TimeoutError)

logger: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamSlot:
    """One stream that somebody follows."""

    name: str  # no other has it
    holder: str  # a person or a token
    team: str

    @property
    def keys(self) -> list[str]:
        whose = (self.holder, f"team {self.team}")
        return [f"concertina:streams:{one}" for one in whose]


class SharedSlots:
    """The slots of all processes, in Redis. Each call is one round trip, made in a thread."""

    def __init__(self, redis_url: str, *, lease_seconds: int = LEASE_SECONDS) -> None:
        self._lease_seconds = lease_seconds
        self._client = redis.Redis.from_url(
            redis_url,
            socket_timeout=_TIMEOUT_SECONDS,
            socket_connect_timeout=_TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
        self._take = self._client.register_script(leased_slots.TAKE)
        self._renew = self._client.register_script(leased_slots.RENEW)

    def is_full(self, slot: StreamSlot, *, of_holder: int, of_team: int) -> int:
        """Take the slot and return 0; or return 1 if all the holder's are taken, 2 the team's."""
        arguments: list[str | int] = [slot.name, self._lease_seconds, of_holder, of_team]
        try:
            return int(self._take(slot.keys, arguments))
        except _FAILURES as error:
            _note(error)
            return 0

    def renew(self, slots: Iterable[StreamSlot]) -> None:
        """Say that these slots are still held."""
        try:
            with self._client.pipeline(transaction=False) as pipeline:
                for slot in slots:
                    self._renew(slot.keys, [slot.name, self._lease_seconds], client=pipeline)
                pipeline.execute()
        except _FAILURES as error:
            _note(error)

    def leave(self, slots: Iterable[StreamSlot]) -> None:
        try:
            with self._client.pipeline(transaction=False) as pipeline:
                for slot in slots:
                    for key in slot.keys:
                        pipeline.zrem(key, slot.name)
                pipeline.execute()
        except _FAILURES as error:
            _note(error)


def _note(error: Exception) -> None:
    logger.warning(
        "Redis does not answer; each process counts streams for itself.",
        extra={"action": "limit", "error": str(error)},
    )
