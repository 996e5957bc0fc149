"""Does the client read its answer? One that does not is cut off after a while, and gets no more.

An answer on its way costs no thread, but it is held in memory until it is read: so its time is
bounded, and number and size of those that one group of callers leaves unread.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Final

from control_plane.front.asgi_types import Message, Send

LONGEST_SEND_SECONDS: Final = 20.0  # guessed: for one piece, of which Django's have 64 KB at most
MOST_UNREAD: Final = 64  # guessed: answers of one group; a page and its assets are a dozen
MOST_UNREAD_BYTES: Final = 32 * 2**20  # guessed: in these; the longest answer has 4 MB


class Delivery:
    """Sends answers within bounds, for all requests of one event loop."""

    def __init__(
        self,
        *,
        longest_seconds: float = LONGEST_SEND_SECONDS,
        most_unread: int = MOST_UNREAD,
        most_unread_bytes: int = MOST_UNREAD_BYTES,
    ) -> None:
        self._most_unread = most_unread
        self._most_unread_bytes = most_unread_bytes
        self.longest_seconds = longest_seconds
        self.unread: Counter[str] = Counter()  # pieces that are being sent, by group
        self.unread_bytes: Counter[str] = Counter()  # of whole answers, by group

    def has_room(self, group: str) -> bool:
        """True if the group reads the answers it asked for before."""
        return (
            self.unread[group] < self._most_unread
            and self.unread_bytes[group] < self._most_unread_bytes
        )

    def begin(self, group: str) -> PendingAnswer:
        return PendingAnswer(self, group)


class PendingAnswer:
    """One answer on its way."""

    def __init__(self, delivery: Delivery, group: str) -> None:
        self._delivery = delivery
        self._group = group
        self._size = 0

    async def send(self, send: Send, message: Message) -> None:
        """Send one piece.

        Raises:
            CancelledError: it was not read in time. Django takes that for a client that is gone: it
                closes the answer and returns, and the server ends a connection whose answer is
                incomplete.
        """
        if message["type"] == "http.response.start":
            self._hold(_length(message))
        self._count(1)
        try:
            async with asyncio.timeout(self._delivery.longest_seconds):
                await send(message)
        except TimeoutError:
            raise asyncio.CancelledError("The client does not read its answer.") from None
        finally:
            self._count(-1)

    def end(self) -> None:
        """Note that the answer is read, or never will be."""
        self._hold(-self._size)

    def _hold(self, size: int) -> None:
        self._size += size
        _add(self._delivery.unread_bytes, self._group, size)

    def _count(self, pieces: int) -> None:
        _add(self._delivery.unread, self._group, pieces)


def _add(counter: Counter[str], name: str, number: int) -> None:
    counter[name] += number
    if not counter[name]:
        del counter[name]


def _length(message: Message) -> int:
    """Return the length that its head announces; a stream announces none."""
    for name, value in message.get("headers", ()):
        if name.lower() == b"content-length" and value.isdigit():
            return int(value)
    return 0
