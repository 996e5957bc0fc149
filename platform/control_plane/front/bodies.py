"""Is a request's body here, whole, and small enough? Django reads what this has read already.

A body whose length was announced is refused unread, one that comes in pieces as soon as it is too
long. Nothing is written to a disk. Django and DRF ignore a body without a `Content-Length`, so that
header is added when the length is known.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Final

from control_plane.front.asgi_types import Application, Message, Receive, Scope, Send, header
from control_plane.front.callers import address_of, caller_of
from control_plane.front.refusal import Refusal

LONGEST_READ_SECONDS: Final = 20.0  # guessed: a body of 512 KB over a line of 200 kbit/s
MOST_HELD_BYTES: Final = 64 * 2**20  # by all requests of a process, while their senders are slow
SHARE_OF_ONE_CALLER: Final = 1 / 8  # of these
SHARE_OF_ONE_ADDRESS: Final = 1 / 2  # of these: a tenant has several tokens, and one machine
MOST_AT_ONCE: Final = 100  # guessed: bodies of one address that are on their way
_MOST_DIGITS: Final = 18  # of a length; Python refuses to read numbers of some thousands


class BoundedBodies:
    """ASGI middleware: reads bodies within bounds of size, time and memory."""

    def __init__(
        self,
        application: Application,
        *,
        largest_of: Callable[[Scope], int],
        longest_seconds: float = LONGEST_READ_SECONDS,
        most_held_bytes: int = MOST_HELD_BYTES,
        most_at_once: int = MOST_AT_ONCE,
    ) -> None:
        self._application = application
        self._largest_of = largest_of
        self._longest_seconds = longest_seconds
        self._most_held_bytes = most_held_bytes
        self._most_at_once = most_at_once
        self._held: Counter[str] = Counter()  # bytes, by caller
        self._held_from: Counter[str] = Counter()  # bytes, by address
        self._on_their_way: Counter[str] = Counter()  # bodies, by address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        body = bytearray()
        try:
            await self._read(scope, receive, body)
            await self._application(_with_length(scope, body), _Replay(body, receive), send)
        except Refusal as refusal:
            await refusal.answer(send)
        finally:
            self._hold(scope, -len(body))

    async def _read(self, scope: Scope, receive: Receive, body: bytearray) -> None:
        largest = self._largest_of(scope)
        announced = header(scope, b"content-length") or b"0"
        if announced.isdigit() and (len(announced) > _MOST_DIGITS or int(announced) > largest):
            raise _too_large(largest)
        address = address_of(scope)
        if self._on_their_way[address] >= self._most_at_once:
            raise _too_many()
        self._on_their_way[address] += 1
        try:
            async with asyncio.timeout(self._longest_seconds):
                await self._gather(scope, receive, body, largest)
        except TimeoutError:
            after = f" after {self._longest_seconds:g} s"
            raise _not_here(after) from None
        finally:
            self._on_their_way[address] -= 1
            if not self._on_their_way[address]:
                del self._on_their_way[address]

    async def _gather(self, scope: Scope, receive: Receive, body: bytearray, largest: int) -> None:
        is_whole = False
        while not is_whole:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _not_here()  # the server gave up waiting, or nobody is left to read this
            piece = message.get("body", b"")
            if len(body) + len(piece) > largest:
                raise _too_large(largest)
            self._check_room(scope, len(piece))
            body += piece
            self._hold(scope, len(piece))
            is_whole = not message.get("more_body", False)

    def _check_room(self, scope: Scope, more: int) -> None:
        """Refuse a body that does not fit beside all bodies, the caller's, or the address's."""
        most = self._most_held_bytes
        held = (
            (self._held.total(), most),
            (self._held[caller_of(scope)], most * SHARE_OF_ONE_CALLER),
            (self._held_from[address_of(scope)], most * SHARE_OF_ONE_ADDRESS),
        )
        if any(here + more > bound for here, bound in held):
            raise _too_many()

    def _hold(self, scope: Scope, size: int) -> None:
        """Count so many bytes more, or fewer."""
        whose = ((self._held, caller_of(scope)), (self._held_from, address_of(scope)))
        for held, name in whose:
            held[name] += size
            if not held[name]:
                del held[name]


class _Replay:
    """Gives the body in one piece, then the server's message that the client is gone."""

    def __init__(self, body: bytearray, receive: Receive) -> None:
        self._body: bytearray | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        if self._body is None:
            return await self._receive()
        body, self._body = bytes(self._body), None
        return {"type": "http.request", "body": body, "more_body": False}


def _with_length(scope: Scope, body: bytearray) -> Scope:
    if not body or header(scope, b"content-length") is not None:
        return scope
    scope["headers"] = [*scope["headers"], (b"content-length", b"%d" % len(body))]
    return scope


def _too_large(largest: int) -> Refusal:
    return Refusal(
        status=413,
        code="too_large",
        message=f"A request body here has at most {largest} bytes. Send less at once.",
        headers=((b"connection", b"close"),),
    )


def _not_here(when: str = "") -> Refusal:
    return Refusal(
        status=408,
        code="too_slow",
        message=f"The body did not arrive{when}; send it again.",
        headers=((b"connection", b"close"),),
    )


def _too_many() -> Refusal:
    return Refusal(
        status=503,
        code="overloaded",
        message="Too many bodies are being sent at once; try again in a moment.",
        retry_after_seconds=2.0,
        headers=((b"connection", b"close"),),
    )
