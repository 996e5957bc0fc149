"""How is sent what is due? For a while, a bounded number at once, noted as soon as it is known.

Calls are made on an event loop in a thread of their own; the database is asked in the thread that
called. So slow receivers hold up neither the database nor one another.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from typing import Final

from webhooks.delivery import claims
from webhooks.delivery.calls import (
    CALL_SECONDS,
    MOST_OPEN,
    WebhookCaller,
    WebhookReach,
    open_caller,
)
from webhooks.delivery.claims import CallResult
from webhooks.models import WebhookDelivery

_WAIT_SECONDS: Final = 0.25  # for results, before more is claimed
_FILL_SECONDS: Final = 2.0  # between looks at what happened meanwhile
_LOOKUPS: Final = 2 * MOST_OPEN  # of names, at once: some last longer than their calls
_ENDING_SECONDS: Final = CALL_SECONDS + 5.0


def deliver(
    rules: Callable[[], WebhookReach],
    *,
    clock: Callable[[], datetime],
    has_time: Callable[[], bool],
    fill: Callable[[], object],
) -> int:
    """Send what is due until nothing is, or time is over; return how many calls were made.

    Args:
        rules: asked for only if something is due, as they look names up.
        clock: what time it is.
        has_time: False: nothing more is begun.
        fill: puts what happened meanwhile into the outbox, so that it does not wait for slow calls.
    """
    claims.expire(clock())
    first = claims.claim(clock(), most=MOST_OPEN)
    if not first:
        return 0
    count, open_calls, filled_at = 0, Counter[int](), time.monotonic()
    with _sending(rules(), clock) as sender:
        claimed = first
        while claimed or (open_calls.total() and sender.is_alive):
            sender.send(claimed)
            open_calls.update(one.webhook_id for one in claimed)
            results = sender.results()
            if results:
                claims.note(results)
            count += len(results)
            open_calls -= Counter(one.webhook_id for one in results)
            if has_time() and time.monotonic() - filled_at >= _FILL_SECONDS:
                fill()
                filled_at = time.monotonic()
            room = MOST_OPEN - open_calls.total()
            claimed = claims.claim(clock(), most=room, busy=open_calls) if has_time() else []
    return count


class WebhookSender:
    """The thread that calls."""

    def __init__(self, rules: WebhookReach, clock: Callable[[], datetime]) -> None:
        self._rules = rules
        self._clock = clock
        self._loop = asyncio.new_event_loop()
        self._results: queue.SimpleQueue[CallResult] = queue.SimpleQueue()
        self._wanted: asyncio.Queue[WebhookDelivery | None] = asyncio.Queue()
        self._thread = threading.Thread(target=self._run, name="webhooks", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """End after the calls that are open."""
        self._loop.call_soon_threadsafe(self._wanted.put_nowait, None)
        self._thread.join(_ENDING_SECONDS)

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def send(self, deliveries: Sequence[WebhookDelivery]) -> None:
        for one in deliveries:
            self._loop.call_soon_threadsafe(self._wanted.put_nowait, one)

    def results(self) -> Sequence[CallResult]:
        """Wait a moment for results, and return those that are there."""
        found = list[CallResult]()
        try:
            found.append(self._results.get(timeout=_WAIT_SECONDS))
            while True:
                found.append(self._results.get_nowait())
        except queue.Empty:
            return found

    def _run(self) -> None:
        """Look names up in threads of its own: nobody can end a lookup, and nobody waits for it."""
        lookups = ThreadPoolExecutor(_LOOKUPS, thread_name_prefix="webhook-names")
        self._loop.set_default_executor(lookups)
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            lookups.shutdown(wait=False, cancel_futures=True)
            self._loop.close()

    async def _serve(self) -> None:
        calling = open_caller(self._rules, clock=self._clock)
        async with calling as caller, asyncio.TaskGroup() as calls:
            while (delivery := await self._wanted.get()) is not None:
                calls.create_task(self._call(caller, delivery))

    async def _call(self, caller: WebhookCaller, delivery: WebhookDelivery) -> None:
        self._results.put(await caller.call(delivery))


@contextmanager
def _sending(rules: WebhookReach, clock: Callable[[], datetime]) -> Iterator[WebhookSender]:
    sender = WebhookSender(rules, clock)
    sender.start()
    try:
        yield sender
    finally:
        sender.end()
