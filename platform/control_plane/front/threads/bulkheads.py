"""Through which lanes does a request go? Those of its kind, so that one kind never blocks another.

However many people and coordinators ask at once, somebody can still sign in, and monitoring hears
how the service is. A thread is given back when the answer is there: however slowly a client reads
it, that holds no thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import replace
from enum import StrEnum
from functools import partial
from math import inf
from typing import Final

from asgiref.sync import ThreadSensitiveContext

from control_plane.front.asgi_types import Application, Message, Receive, Scope, Send
from control_plane.front.callers import caller_of, group_of
from control_plane.front.refusal import Refusal
from control_plane.front.threads.delivery import Delivery
from control_plane.front.threads.lanes import Busy, Lanes, LaneSize, ShareIsUsed
from control_plane.front.threads.processor_shares import SHARE_OF_PROCESSOR, ProcessorShares

RETRY_AFTER_SECONDS: Final = 2.0
PATIENCE_OF_PEOPLE_SECONDS: Final = 10.0  # guessed: to wait is better than to be told to come again
_OF_PASSWORDS: Final = 0.4  # of a share, for one address; guessed: ten people at once
_WINDOW_OF_PASSWORDS_SECONDS: Final = 20.0
_ALL: Final = partial(ProcessorShares, share=inf)
_SIGN_IN: Final = frozenset({"/api/v1/session", "/admin/login/"})
_HEALTH: Final = "/api/v1/health"
_UNBUFFERED: Final = (b"x-accel-buffering", b"no")


class RequestKind(StrEnum):
    """Kinds of requests, each with threads of its own."""

    PEOPLE = "people"  # and programs: everything but the following
    COORDINATORS = "coordinators"
    SIGN_IN = "sign-in"
    HEALTH = "health"


def kind_of(path: str) -> RequestKind:
    if path == _HEALTH:
        return RequestKind.HEALTH
    if path in _SIGN_IN:
        return RequestKind.SIGN_IN
    return RequestKind.COORDINATORS if path.startswith("/internal/") else RequestKind.PEOPLE


def sizes(threads: int, share: float = SHARE_OF_PROCESSOR) -> Mapping[RequestKind, LaneSize]:
    """Return each kind's size: so many threads for people and programs, and some for others.

    `share`: of one processor, that one team, person or job has while processors are short.
    """
    shares = partial(ProcessorShares, share=share)
    of_passwords = partial(
        shares, part_of_strangers=_OF_PASSWORDS, window_seconds=_WINDOW_OF_PASSWORDS_SECONDS
    )
    return {
        RequestKind.PEOPLE: replace(
            LaneSize.of(threads), longest_wait_seconds=PATIENCE_OF_PEOPLE_SECONDS, shares=shares
        ),
        # Whose reports do not come here.
        RequestKind.COORDINATORS: replace(LaneSize.of(1), shares=shares),
        RequestKind.SIGN_IN: replace(LaneSize.of(2), shares=of_passwords),
        # Answered from memory but once a second: whoever asks, it costs next to nothing.
        RequestKind.HEALTH: LaneSize(threads=1, places=1000, shares=_ALL),
    }


class Bulkheads:
    """ASGI middleware: runs Django's synchronous parts in one of the threads of its kind."""

    def __init__(
        self,
        application: Application,
        sizes: Mapping[RequestKind, LaneSize],
        *,
        delivery: Delivery | None = None,
        refusal_seconds: float = 0.0,
    ) -> None:
        self._application = application
        self._lanes = {kind: Lanes(kind, size) for kind, size in sizes.items()}
        self._delivery = delivery or Delivery()
        self._refusal_seconds = refusal_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        lanes = self._lanes[kind_of(scope["path"])]
        caller, group = caller_of(scope), group_of(scope)
        try:
            thread = await self._thread(lanes, caller, group)
        except Busy as busy:
            # It takes a moment: who asks again at once has asked less.
            await asyncio.sleep(self._refusal_seconds)
            await _refusal(busy).answer(send)
            return
        is_ours, is_stream, answer = True, False, self._delivery.begin(group)

        def give_back() -> None:
            nonlocal is_ours
            if is_ours:
                is_ours = False
                lanes.give_back(thread, used_by=group_of(scope))

        async def sending(message: Message) -> None:
            nonlocal is_stream
            is_stream = is_stream or _begins_stream(message)
            # Files are read, in the thread, between an answer's start and its body; a stream goes
            # on for hours, on the event loop.
            if is_stream or message["type"] == "http.response.body":
                give_back()
            if is_stream:
                await send(message)
            else:
                await answer.send(send, message)

        try:
            async with ThreadSensitiveContext(executor=thread):
                await self._application(scope, receive, sending)
        finally:
            give_back()
            answer.end()

    async def _thread(self, lanes: Lanes, caller: str, group: str) -> Executor:
        """Take a thread, unless the group does not read its answers.

        Raises:
            Busy: no thread is free for it now.
        """
        if not self._delivery.has_room(group):
            raise Busy
        return await lanes.take(caller, group)


def _begins_stream(message: Message) -> bool:
    """Events, or what proxies are told to pass on as it comes."""
    return message["type"] == "http.response.start" and any(
        (name.lower() == b"content-type" and value.startswith(b"text/event-stream"))
        or (name.lower(), value) == _UNBUFFERED
        for name, value in message.get("headers", ())
    )


def _refusal(busy: Busy) -> Refusal:
    if isinstance(busy, ShareIsUsed):
        return Refusal(
            status=429,
            code="too_many_requests",
            message="The requests of this team, person or job cost the service more than their"
            " share of its processors; ask less, or less often, and try again in a moment.",
            retry_after_seconds=RETRY_AFTER_SECONDS,
        )
    return Refusal(
        status=503,
        code="overloaded",
        message="The service has more requests than it can answer now; try again in a moment.",
        retry_after_seconds=RETRY_AFTER_SECONDS,
    )
