"""What does one viewer get? First all that the page shows, then what changed, until it may not."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from django.db import close_old_connections
from tenancy.access.grants import Grant

from control_plane.api.live.compression import PageEvent
from control_plane.api.live.reads import Viewpoint, answered
from control_plane.api.live.topics import Topic, Topics
from control_plane.api.logs.followed_grants import FollowedGrants, GrantState

KEEP_ALIVE_SECONDS: Final = 15.0  # proxies close a connection that says nothing for a minute
LONGEST_SECONDS: Final = 60.0  # then the page comes again, with the teams it has by then
_LOOK_SECONDS: Final = 5.0  # at whether the viewer still may
_READERS: Final = 2  # threads of this process that read for all pages
_RETRY: Final = PageEvent.of(b"retry: 2000\n\n")
_STILL_THERE: Final = PageEvent.of(b"event: still-there\ndata: {}\n\n")
_AGAIN: Final = PageEvent.of(b"event: again\ndata: {}\n\n")

_readers: Final = ThreadPoolExecutor(_READERS, thread_name_prefix="live-reader")


class LiveStream:
    """One open page, as an `Onlooker`."""

    def __init__(
        self,
        topics: Topics,
        followed: FollowedGrants,
        *,
        user: Any,
        reader: str,
        viewpoint: Viewpoint,
        grants: Collection[Grant],
        reads: Sequence[str],
    ) -> None:
        self.user = user
        self.reader = reader
        self.viewpoint = viewpoint
        self._topics = topics
        self._followed = followed
        self._grants = tuple(grants)
        self._reads = tuple(dict.fromkeys(reads))
        self._changed = asyncio.Event()
        self._is_outdated = False

    def note_change(self) -> None:
        self._changed.set()

    def come_again(self) -> None:
        self._is_outdated = True
        self._changed.set()

    async def events(self) -> AsyncGenerator[PageEvent]:
        """Yield what changed as server-sent events."""
        for grant in self._grants:
            self._followed.follow(grant)
        found = [self._topics.join(self, read) for read in self._reads]
        joined = [topic for topic in found if topic is not None]
        try:
            yield _RETRY
            async for event in self._following(joined):
                yield event
        finally:
            for topic in joined:
                self._topics.leave(self, topic)
            for grant in self._grants:
                self._followed.unfollow(grant)

    async def _following(self, topics: Sequence[Topic]) -> AsyncGenerator[PageEvent]:
        sent = dict.fromkeys(topics, 0)
        began = spoke_at = time.monotonic()
        while time.monotonic() - began < LONGEST_SECONDS:
            if not await self._may_look():
                break
            self._changed.clear()
            news = [topic for topic in topics if topic.version > sent[topic]]
            for topic in news:
                sent[topic] = topic.version
                if topic.event is not None:
                    yield topic.event
            if news:
                spoke_at = time.monotonic()
            elif time.monotonic() - spoke_at >= KEEP_ALIVE_SECONDS:
                yield _STILL_THERE
                spoke_at = time.monotonic()
            await self._wait()
        yield _AGAIN

    async def _may_look(self) -> bool:
        """True while all holds that it was let in for; else it may come again."""
        states = [await self._followed.look_at(grant) for grant in self._grants]
        return not self._is_outdated and all(state is GrantState.VALID for state in states)

    async def _wait(self) -> None:
        try:
            await asyncio.wait_for(self._changed.wait(), _LOOK_SECONDS)
        except TimeoutError:
            return


async def read_in_a_thread(read: str, user: Any, viewpoint: Viewpoint) -> tuple[PageEvent, float]:
    """Read in one of the threads that only read for open pages. Raises: ViewpointChanged."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_readers, _timed, read, user, viewpoint)


def _timed(read: str, user: Any, viewpoint: Viewpoint) -> tuple[PageEvent, float]:
    began = time.thread_time()
    close_old_connections()
    try:
        event = PageEvent.of(answered(read, user, viewpoint).as_event(read))
        return event, time.thread_time() - began
    finally:
        close_old_connections()
