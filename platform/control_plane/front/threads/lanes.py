"""Which thread answers a request, and who waits for one? Few threads, taken in turn by callers.

Each thread keeps its connection to the database from one request to the next, so there are never
more connections than threads. A queue before them is bounded in length and in time, and groups of
callers take turns in it: who sends a thousand requests waits behind their own. Where it is full,
who waits with the most requests makes room for who waits with fewer. No group has all threads, so
that another finds one however long the requests of the first take, nor more than its share of the
processor for long.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from control_plane.front.threads.processor_shares import FRONT_SECONDS, ProcessorShares
from control_plane.front.threads.turns import Turns

LONGEST_WAIT_SECONDS: Final = 5.0  # half of what coordinators wait for an answer
PLACES_PER_THREAD: Final = 16  # guessed: at 60 ms of work each, what can be done in a second
SHARE_OF_ONE_CALLER: Final = 0.5  # of the places
SHARE_OF_ONE_GROUP: Final = 0.5  # of the threads; more than that many gain little: one has the GIL
_BETWEEN_LOOKS_SECONDS: Final = (0.01, 1.0)  # at least, for what has become free, and at most


class Busy(Exception):
    """All threads are taken, and nobody else may wait, or waiting took too long."""


class ShareIsUsed(Busy):
    """The group has used its share of the processor, and did not get it back in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneSize:
    """How many requests are answered at once, and how many may wait for how long."""

    threads: int
    places: int
    longest_wait_seconds: float = LONGEST_WAIT_SECONDS
    shares: Callable[[], ProcessorShares] = ProcessorShares  # that groups have of the processor

    @classmethod
    def of(cls, threads: int) -> LaneSize:
        return cls(threads=threads, places=PLACES_PER_THREAD * threads)

    @property
    def places_of_one(self) -> int:
        return max(int(self.places * SHARE_OF_ONE_CALLER), 1)

    @property
    def threads_of_one_group(self) -> int:
        return max(int(self.threads * SHARE_OF_ONE_GROUP), 1)


class Lanes:
    """Some threads with a queue. They belong to one event loop, so there is no lock."""

    def __init__(self, name: str, size: LaneSize) -> None:
        self._size = size
        self._shares = size.shares()
        self._free: list[Executor] = [
            ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"{name}-{number}")
            for number in range(size.threads)
        ]
        self._turns: Turns[asyncio.Future[Executor]] = Turns()
        self._group: dict[Executor, str] = {}  # who has a thread
        self._running: Counter[str] = Counter()  # threads, by group
        self._used: dict[Executor, float] = {}  # of the processor so far, in seconds, by thread
        self._alarm: asyncio.TimerHandle | None = None

    @property
    def waiting(self) -> int:
        """Count those who wait for a thread."""
        return len(self._turns)

    async def take(self, caller: str, group: str | None = None) -> Executor:
        """Take a thread until `give_back`; a caller without a group is a group alone.

        Raises:
            Busy: no thread became free in time, or somebody with fewer requests came.
            ShareIsUsed: the group had to wait too long for its share of the processor.
        """
        group = group or caller
        if self._free and self._may_run(group):
            return self._begin(self._free.pop(), group)
        if self._turns.of(group, caller) >= self._size.places_of_one:
            raise Busy
        if self.waiting >= self._size.places:
            self._make_room(group, caller)
        place: asyncio.Future[Executor] = asyncio.get_running_loop().create_future()
        self._turns.put(group, caller, place)
        self._look_again_in_time()
        try:
            async with asyncio.timeout(self._size.longest_wait_seconds):
                return await place
        except TimeoutError:
            self._leave(group, caller, place)
            raise (ShareIsUsed if self._shares.wait_seconds(group) else Busy) from None
        except asyncio.CancelledError:
            self._leave(group, caller, place)
            raise

    def give_back(self, thread: Executor, *, used_by: str | None = None) -> None:
        """Hand the thread to the next caller once it has finished its work.

        Work left running by a client that hung up keeps the thread, so it is bounded, too.
        `used_by`: the group whose work it was, where that is known only now.
        """
        loop = asyncio.get_running_loop()

        def pass_on(done: Future[float]) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._take_back, thread, done.result(), used_by)

        thread.submit(time.thread_time).add_done_callback(pass_on)

    def _take_back(self, thread: Executor, used_seconds: float, used_by: str | None) -> None:
        before = self._used.get(thread, 0.0)
        self._used[thread] = used_seconds
        group = used_by or self._group[thread]
        self._shares.use(group, used_seconds - before + FRONT_SECONDS)
        self._pass_on(thread)

    def _pass_on(self, thread: Executor) -> None:
        self._end(thread)
        self._free.append(thread)
        self._serve()

    def _serve(self) -> None:
        """Give free threads to those whose turn it is."""
        turns = self._turns.next(self._may_run)
        while self._free and (turn := next(turns, None)) is not None:
            group, place = turn
            if not place.done():
                place.set_result(self._begin(self._free.pop(), group))
        self._look_again_in_time()

    def _look_again_in_time(self) -> None:
        """Look again when the first of those who only wait for their share may go on."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        waits = [
            self._shares.wait_seconds(group)
            for group in self._turns.groups()
            if self._has_room(group)
        ]
        if self._free and waits:
            shortest, longest = _BETWEEN_LOOKS_SECONDS
            seconds = min(max(min(waits), shortest), longest)
            self._alarm = asyncio.get_running_loop().call_later(seconds, self._serve)

    def _may_run(self, group: str) -> bool:
        return self._has_room(group) and not self._shares.wait_seconds(group)

    def _has_room(self, group: str) -> bool:
        return self._running[group] < self._size.threads_of_one_group

    def _begin(self, thread: Executor, group: str) -> Executor:
        self._group[thread] = group
        self._running[group] += 1
        return thread

    def _end(self, thread: Executor) -> None:
        group = self._group.pop(thread)
        self._running[group] -= 1
        if not self._running[group]:
            del self._running[group]

    def _make_room(self, group: str, caller: str) -> None:
        """Push out the newest request of whoever waits with the most.

        Raises:
            Busy: nobody waits with so many more than the newcomer.
        """
        newest = self._turns.push_out(group, caller)
        if newest is None:
            raise Busy
        if not newest.done():
            newest.set_exception(Busy())

    def _leave(self, group: str, caller: str, place: asyncio.Future[Executor]) -> None:
        if place.done() and not place.cancelled():
            if place.exception() is None:
                self._pass_on(place.result())  # it came in the very moment
            return
        self._turns.remove(group, caller, place)
