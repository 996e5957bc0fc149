"""What is one follower of events sent? What came behind a position, then what comes, for a while.

What the tail does not keep any more is read from the database, a page at a time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from django.db import close_old_connections
from tenancy.access.grants import Grant

from control_plane.api.events.tail import EventTail, FeedEvent, FeedNews
from control_plane.api.live.compression import PageEvent
from control_plane.api.logs.followed_grants import FollowedGrants, GrantState
from control_plane.front.threads.processor_shares import ProcessorShares
from control_plane.web.answers.json_answers import FiniteJsonRenderer
from jobs.api.representation import represented
from jobs.api.serializers import FeedEventSerializer
from jobs.changes.numbering import number_events
from jobs.models import Event
from jobs.queries import event_feed
from jobs.queries.event_feed import FeedFilter

KEEP_ALIVE_SECONDS: Final = 15.0  # proxies close a connection that says nothing for a minute
LONGEST_SECONDS: Final = 600.0  # then the follower comes again, with the teams it has by then
_LOOK_SECONDS: Final = 5.0  # at whether the follower still may
_MOST_AT_ONCE: Final = 500  # events of a page from the database
_READERS: Final = 1  # thread of this process that reads events, with one connection
_RETRY: Final = PageEvent.of(b"retry: 2000\n\n")
_AGAIN: Final = PageEvent.of(b"event: again\ndata: {}\n\n")
_EVERYTHING: Final = FeedFilter(team_ids=None)

_readers: Final = ThreadPoolExecutor(_READERS, thread_name_prefix="event-reader")
_shares: Final = ProcessorShares()
Result = TypeVar("Result")


@dataclass(eq=False, slots=True, kw_only=True)
class FollowedEvents:
    """What one person or program follows."""

    tail: EventTail
    grants: Collection[Grant]
    followed: FollowedGrants
    wanted: FeedFilter
    group: str  # whose share of the processor pays for reading the past
    after: int | None  # None: what comes from now on
    quiet_seconds: float | None = None  # after which it says that it is there; None: as usual
    _news: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def note_news(self) -> None:
        self._news.set()

    async def events(self) -> AsyncGenerator[PageEvent]:
        """Yield events until it is time to come again."""
        for grant in self.grants:
            self.followed.follow(grant)
        self.tail.join(self)
        try:
            yield _RETRY
            self._news.clear()  # before each look at what the tail has reached, or one is missed
            while self.tail.reached is None and await self._may_look():
                await self._wait(_LOOK_SECONDS)
                self._news.clear()
            position = self.tail.reached if self.after is None else self.after
            yield _at(position, "begin")
            async for event in self._following(position or 0):
                yield event
        finally:
            self.tail.leave(self)
            for grant in self.grants:
                self.followed.unfollow(grant)

    async def _following(self, position: int) -> AsyncGenerator[PageEvent]:
        began = spoke_at = time.monotonic()
        quiet = KEEP_ALIVE_SECONDS if self.quiet_seconds is None else self.quiet_seconds
        while time.monotonic() - began < LONGEST_SECONDS and await self._may_look():
            self._news.clear()
            news = await self._behind(position)
            position = news.reached
            for event in news.events:
                yield event.sent
                spoke_at = time.monotonic()
            if news.has_more:
                await asyncio.sleep(_shares.wait_seconds(self.group))
                continue
            if time.monotonic() - spoke_at >= quiet:
                yield _at(position, "still-there")
                spoke_at = time.monotonic()
            await self._wait(min(_LOOK_SECONDS, quiet))
        yield _AGAIN

    async def _behind(self, position: int) -> FeedNews:
        reached = self.tail.reached or position
        kept = self.tail.after(position)
        if kept is not None:
            events = [event for event in kept if self._is_wanted(event)]
            return FeedNews(events=events, reached=max(reached, position), has_more=False)
        news, seconds = await in_a_reader(partial(past_after, position, self.wanted))
        _shares.use(self.group, seconds)
        if news.has_more:
            return news
        # Whatever the tail had read by then is committed and was seen, or is none of theirs.
        return FeedNews(
            events=news.events, reached=max(news.reached, reached, position), has_more=False
        )

    def _is_wanted(self, event: FeedEvent) -> bool:
        return self.wanted.wants(team_id=event.team_id, job_id=event.job_id, kind=event.kind)

    async def _may_look(self) -> bool:
        """True while all holds that it was let in for; else it may come again."""
        states = [await self.followed.look_at(grant) for grant in self.grants]
        return all(state is GrantState.VALID for state in states)

    async def _wait(self, most_seconds: float) -> None:
        try:
            await asyncio.wait_for(self._news.wait(), most_seconds)
        except TimeoutError:
            return


async def read_news(position: int | None) -> FeedNews:
    """Read for the tail, in a thread."""
    news, _ = await in_a_reader(partial(_news_after, position))
    return news


async def in_a_reader(read: Callable[[], Result]) -> tuple[Result, float]:
    """Return what is read in a thread that only reads events, and the processor's seconds."""
    return await asyncio.get_running_loop().run_in_executor(_readers, partial(_timed, read))


def past_after(position: int, wanted: FeedFilter) -> FeedNews:
    """Return a page of the past, as it is sent."""
    page = event_feed.page_after(position, wanted, most=_MOST_AT_ONCE)
    return FeedNews(events=_written(page.events), reached=page.reached, has_more=page.has_more)


def _news_after(position: int | None) -> FeedNews:
    number_events()
    if position is None:
        return FeedNews(events=(), reached=event_feed.last_position(), has_more=False)
    return past_after(position, _EVERYTHING)


def _timed(read: Callable[[], Result]) -> tuple[Result, float]:
    began = time.thread_time()
    close_old_connections()
    try:
        return read(), time.thread_time() - began
    finally:
        close_old_connections()


def _written(events: Sequence[Event]) -> Sequence[FeedEvent]:
    return [
        FeedEvent(
            position=event.position or 0,
            team_id=event.job.team_id,
            job_id=event.job_id,
            kind=event.kind,
            sent=PageEvent.of(_as_sent(event)),
        )
        for event in events
    ]


def _as_sent(event: Event) -> bytes:
    data = FiniteJsonRenderer().render(represented(FeedEventSerializer, event))
    return b"event: event\nid: %d\ndata: %s\n\n" % (event.position or 0, data)


def _at(position: int | None, name: str) -> PageEvent:
    """Tell behind which position to go on after a break; None: the tail never read any."""
    place = "" if position is None else f"id: {position}\n"
    return PageEvent.of(f"event: {name}\n{place}data: {{}}\n\n".encode())
