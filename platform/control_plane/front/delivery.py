"""Does the client read its answer? Whoever does not is cut off after a while, and gets no more.

An answer on its way costs no thread, but it is held in memory until it is read: so its time is
bounded, and the number of those that one caller leaves unread.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Final

from control_plane.front.asgi_types import Message, Send

LONGEST_SEND_SECONDS: Final = 20.0  # guessed: for one piece, of which Django's have 64 KB at most
MOST_UNREAD: Final = 64  # guessed: answers of one caller; a page and its assets are a dozen


class Delivery:
    """Sends pieces of answers within bounds, for all requests of one event loop."""

    def __init__(
        self,
        *,
        longest_seconds: float = LONGEST_SEND_SECONDS,
        most_unread: int = MOST_UNREAD,
    ) -> None:
        self._longest_seconds = longest_seconds
        self._most_unread = most_unread
        self._unread: Counter[str] = Counter()  # pieces that are being sent, by caller

    def has_room(self, caller: str) -> bool:
        """Whether the caller reads what was asked for before."""
        return self._unread[caller] < self._most_unread

    async def send(self, caller: str, send: Send, message: Message) -> None:
        """Send one piece.

        Raises:
            CancelledError: it was not read in time. Django takes that for a client that is gone: it
                closes the answer and returns, and the server ends a connection whose answer is
                incomplete.
        """
        self._unread[caller] += 1
        try:
            async with asyncio.timeout(self._longest_seconds):
                await send(message)
        except TimeoutError:
            raise asyncio.CancelledError("The client does not read its answer.") from None
        finally:
            self._unread[caller] -= 1
            if not self._unread[caller]:
                del self._unread[caller]
