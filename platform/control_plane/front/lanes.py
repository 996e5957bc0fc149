"""Which thread answers a request, and who waits for one? Few threads, taken in turn by callers.

Each thread keeps its connection to the database from one request to the next, so there are never
more connections than threads. A queue before them is bounded in length and in time, and callers
take turns in it: who sends a thousand requests waits behind their own. Where it is full, who waits
with the most requests makes room for who waits with fewer.
"""

from __future__ import annotations

import asyncio
from collections import deque
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

LONGEST_WAIT_SECONDS: Final = 5.0  # half of what coordinators wait for an answer
PLACES_PER_THREAD: Final = 16  # guessed: at 60 ms of work each, what can be done in a second
SHARE_OF_ONE_CALLER: Final = 0.5  # of the places


class Busy(Exception):
    """All threads are taken, and no place to wait for one is left or it took too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How many requests are answered at once, and how many may wait for how long."""

    threads: int
    places: int
    longest_wait_seconds: float = LONGEST_WAIT_SECONDS

    @classmethod
    def of(cls, threads: int) -> Size:
        return cls(threads=threads, places=PLACES_PER_THREAD * threads)

    @property
    def places_of_one(self) -> int:
        return max(int(self.places * SHARE_OF_ONE_CALLER), 1)


class Lanes:
    """Some threads with a queue. All of it belongs to one event loop, hence no lock."""

    def __init__(self, name: str, size: Size) -> None:
        self._size = size
        self._free: list[Executor] = [
            ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"{name}-{number}")
            for number in range(size.threads)
        ]
        self._waiting: dict[str, deque[asyncio.Future[Executor]]] = {}  # by caller, next one first

    @property
    def waiting(self) -> int:
        """How many wait for a thread."""
        return sum(map(len, self._waiting.values()))

    async def take(self, caller: str) -> Executor:
        """A thread of one's own until `give_back`.

        Raises:
            Busy: none is free, or becomes so in time, or somebody with fewer requests came.
        """
        if self._free:
            return self._free.pop()
        own = len(self._waiting.get(caller, ()))
        if own >= self._size.places_of_one:
            raise Busy
        if self.waiting >= self._size.places:
            self._make_room(own)
        place: asyncio.Future[Executor] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(caller, deque()).append(place)
        try:
            async with asyncio.timeout(self._size.longest_wait_seconds):
                return await place
        except TimeoutError:
            self._leave(caller, place)
            raise Busy from None
        except asyncio.CancelledError:
            self._leave(caller, place)
            raise

    def give_back(self, thread: Executor) -> None:
        """Hand the thread to the next caller once it has done all that it was asked to.

        What a client that hung up has left running keeps the thread: so that is bounded, too.
        """
        loop = asyncio.get_running_loop()

        def pass_on(_: Future[None]) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._pass_on, thread)

        thread.submit(_nothing).add_done_callback(pass_on)

    def _pass_on(self, thread: Executor) -> None:
        while self._waiting:
            caller, places = next(iter(self._waiting.items()))
            place = places.popleft()
            del self._waiting[caller]
            if places:
                self._waiting[caller] = places  # at the end: the others first
            if not place.done():
                place.set_result(thread)
                return
        self._free.append(thread)

    def _make_room(self, own: int) -> None:
        """Push out the newest request of whoever waits with the most, if with more than `own`.

        Raises:
            Busy: nobody waits with so many more than the newcomer.
        """
        caller, places = max(self._waiting.items(), key=lambda item: len(item[1]))
        if len(places) <= own + 1:
            raise Busy
        newest = places[-1]
        self._leave(caller, newest)
        if not newest.done():
            newest.set_exception(Busy())

    def _leave(self, caller: str, place: asyncio.Future[Executor]) -> None:
        if place.done() and not place.cancelled():
            if place.exception() is None:
                self._pass_on(place.result())  # it came in the very moment
            return
        places = self._waiting.get(caller)
        if places is not None and place in places:
            places.remove(place)
            if not places:
                del self._waiting[caller]


def _nothing() -> None:
    """What an idle thread does at once."""
