"""What happened last? One task of each process reads it for all who follow, once a second.

Each event is written and compressed once. Everything here happens on the event loop, but for the
reading; nobody reads while nobody follows.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final, Protocol

from control_plane.api.live.compression import PageEvent

POLL_SECONDS: Final = 1.0  # guessed: soon enough for people, and a statement costs nothing
MOST_KEPT: Final = 2000  # events that whoever is slow need not read from the database; guessed
_FAILED_SECONDS: Final = 5.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedEvent:
    """An event as it is sent, and what it takes to know who gets it."""

    position: int
    team_id: int
    job_id: str
    kind: str
    sent: PageEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedNews:
    """What came behind a position."""

    events: Sequence[FeedEvent]
    reached: int
    has_more: bool


ReadNews = Callable[[int | None], Awaitable[FeedNews]]
"""Reads what is behind a position; None: only which is the last one."""


class Follower(Protocol):
    """Somebody who follows events."""

    def note_news(self) -> None:
        """Something may have happened."""


class EventTail:
    """The newest events of all jobs, for as long as somebody follows."""

    def __init__(self, read: ReadNews) -> None:
        self._read = read
        self._followers: set[Follower] = set()
        self._kept: deque[FeedEvent] = deque()
        self._begin = 0
        self._reached: int | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def reached(self) -> int | None:
        """Up to which position everything was read; None: nothing yet."""
        return self._reached

    @property
    def is_read(self) -> bool:
        """True while a task reads for somebody."""
        return self._task is not None

    def join(self, follower: Follower) -> None:
        self._followers.add(follower)
        if self._task is None:
            self._task = asyncio.create_task(self._keep_reading())

    def leave(self, follower: Follower) -> None:
        self._followers.discard(follower)
        if not self._followers and self._task is not None:
            self._task.cancel()
            self._task = None
            self._reached = None
            self._kept.clear()

    def after(self, position: int) -> Sequence[FeedEvent] | None:
        """Return what is behind this position; None: that goes back further than is kept."""
        if self._reached is None or position < self._begin:
            return None
        newest_first = takewhile(lambda event: event.position > position, reversed(self._kept))
        return [*newest_first][::-1]

    async def _keep_reading(self) -> None:
        while True:  # until it is cancelled by the last who leaves
            pause = await self._read_once()
            await asyncio.sleep(pause)

    async def _read_once(self) -> float:
        """Read once; return how many seconds later to read again."""
        try:
            news = await self._read(self._reached)
        except Exception as problem:  # noqa: BLE001 - whatever it is, it is tried again
            _log.warning("Events could not be read: %s", problem, extra={"action": "events"})
            return _FAILED_SECONDS
        if self._reached is None:
            self._begin = news.reached
        is_new = news.reached != self._reached
        self._reached = news.reached
        self._keep(news.events)
        if is_new:
            for follower in self._followers:
                follower.note_news()
        return 0.0 if news.has_more else POLL_SECONDS

    def _keep(self, events: Sequence[FeedEvent]) -> None:
        self._kept.extend(events)
        while len(self._kept) > MOST_KEPT:
            self._begin = self._kept.popleft().position
