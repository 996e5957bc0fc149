"""Who looks at which read? It is read once for all who may see the same, and sent when it changed.

So the cost of open pages grows with what they show, and with changes, not with how many look.
Everything here happens on the event loop, but for the reading.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from control_plane.api.live.compression import PageEvent
from control_plane.api.live.reads import (
    Viewpoint,
    ViewpointChanged,
    is_of_its_reader,
    seconds_between,
)
from control_plane.front.threads.processor_shares import ProcessorShares

MOST_TOPICS: Final = 400  # guessed: of some thirty viewpoints; more are not live
MOST_OF_ONE: Final = 120  # of one viewpoint: a dozen different pages
_FAILED_SECONDS: Final = 5.0  # until a read that failed is tried again

_log = logging.getLogger(__name__)

_Key = tuple[Viewpoint, str, str]  # whose it is, of which reader (empty: of any), and the read

ReadFor = Callable[[str, Any, Viewpoint], Awaitable[tuple[PageEvent, float]]]
"""Reads for a user; returns what to tell of it, and how many seconds of a processor it took.

Raises ViewpointChanged: it is not the user's viewpoint any more.
"""


class Onlooker(Protocol):
    """One open page."""

    user: Any
    reader: str  # who that is, or by which token: a token may do less than its person
    viewpoint: Viewpoint

    def note_change(self) -> None:
        """Something that it looks at has changed."""

    def come_again(self) -> None:
        """It sees other teams by now, so it has to look anew."""


@dataclass(eq=False, slots=True)
class Topic:
    """One read, for all who see the same; what says what its reader may do, for that one alone."""

    read: str
    viewpoint: Viewpoint
    reader: str = ""  # empty: any of this viewpoint
    onlookers: dict[Onlooker, None] = field(default_factory=dict)  # the longest there first
    version: int = 0  # counts changes; 0: nothing was read yet
    event: PageEvent | None = None  # what was read, as it is sent
    task: asyncio.Task[None] | None = None

    def take(self, event: PageEvent) -> None:
        """Tell all onlookers if it is another than before."""
        if event == self.event:
            return
        self.event = event
        self.version += 1
        for onlooker in self.onlookers:
            onlooker.note_change()


class Topics:
    """All topics of a process that somebody looks at."""

    def __init__(self, read_for: ReadFor, *, shares: ProcessorShares | None = None) -> None:
        self._read_for = read_for
        self._shares = shares or ProcessorShares()
        self._topics: dict[_Key, Topic] = {}

    def __len__(self) -> int:
        return len(self._topics)

    def join(self, onlooker: Onlooker, read: str) -> Topic | None:
        """Look at a read from now on; None: there are too many to be live."""
        reader = onlooker.reader if is_of_its_reader(read) else ""
        key = (onlooker.viewpoint, reader, read)
        topic = self._topics.get(key)
        if topic is None:
            if self._is_full(key):
                return None
            topic = self._topics[key] = Topic(
                read=read, viewpoint=onlooker.viewpoint, reader=reader
            )
            topic.task = asyncio.create_task(self._keep_reading(topic))
        topic.onlookers[onlooker] = None
        return topic

    def leave(self, onlooker: Onlooker, topic: Topic) -> None:
        """Stop reading once nobody looks any more."""
        topic.onlookers.pop(onlooker, None)
        if not topic.onlookers and topic.task is not None:
            topic.task.cancel()
            topic.task = None
            del self._topics[topic.viewpoint, topic.reader, topic.read]

    def _is_full(self, key: _Key) -> bool:
        """True if there is no room for one more; half of it is kept for what many may look at."""
        viewpoint, reader, _ = key
        share = 2 if reader else 1
        of_one = sum(whose == viewpoint for whose, _, _ in self._topics)
        return len(self._topics) >= MOST_TOPICS // share or of_one >= MOST_OF_ONE // share

    async def _keep_reading(self, topic: Topic) -> None:
        group = _group_of(topic.viewpoint)
        while True:  # until it is cancelled by the last who leaves
            await asyncio.sleep(self._shares.wait_seconds(group))
            await asyncio.sleep(await self._read(topic, group))

    async def _read(self, topic: Topic, group: str) -> float:
        """Read once; return how many seconds later it is to be read again."""
        onlooker = next(iter(topic.onlookers), None)
        if onlooker is None:  # the last is about to come again
            return _FAILED_SECONDS
        try:
            event, seconds = await self._read_for(topic.read, onlooker.user, topic.viewpoint)
        except ViewpointChanged:
            topic.onlookers.pop(onlooker, None)
            onlooker.come_again()
            return 0.0
        except Exception as problem:  # noqa: BLE001 - whatever it is, it is tried again
            _log.warning("%s could not be read: %s", topic.read, problem, extra={"action": "live"})
            return _FAILED_SECONDS
        self._shares.use(group, seconds)
        topic.take(event)
        return seconds_between(topic.read)


def _group_of(viewpoint: Viewpoint) -> str:
    """Return whose share of the processor pays for it: one team's, or that of all admins."""
    return "admins" if viewpoint.is_admin else f"team:{min(viewpoint.team_ids, default=0)}"
