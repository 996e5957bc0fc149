"""How does a played coordinator talk with the service? HTTP on one connection that is kept."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any, Final

TIMEOUT_SECONDS: Final = 10.0  # as real coordinators have
WAIT_SECONDS: Final = 40.0  # longer than the service holds a request
NO_ANSWER: Final = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back."""

    status: int = NO_ANSWER
    document: dict[str, Any] | None = None
    again_after: float = 0.0


class Wire:
    """One connection, made when it is needed; from another address of this machine, if named."""

    def __init__(self, host: str, port: int, *, own_host: str | None = None) -> None:
        self._address = (host, port)
        self._own_address = (own_host, 0) if own_host else None
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(
        self, request: bytes, body: bytes = b"", *, seconds: float = TIMEOUT_SECONDS
    ) -> Answer:
        """Send the head of a request, of which the length is missing, and its body."""
        try:
            async with asyncio.timeout(seconds):
                return await self._ask(request, body)
        except (OSError, asyncio.IncompleteReadError, TimeoutError, ValueError):
            self.close()
            return Answer()
        except asyncio.CancelledError:
            self.close()
            raise

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def _ask(self, request: bytes, body: bytes) -> Answer:
        if self._streams is None:
            self._streams = await asyncio.open_connection(
                *self._address, local_addr=self._own_address
            )
        reader, writer = self._streams
        writer.write(b"%bContent-Length: %d\r\n\r\n%b" % (request, len(body), body))
        await writer.drain()
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(b":") for line in lines if line)
        }
        content = await reader.readexactly(int(headers.get(b"content-length", b"0")))
        if headers.get(b"connection", b"").lower() == b"close":
            self.close()
        return Answer(
            status=int(first.split(b" ", 2)[1]),
            document=json.loads(content) if content else None,
            again_after=float(headers.get(b"retry-after", b"0")),
        )
