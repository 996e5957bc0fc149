"""How does the coordinator wait for the service's word? By a request that the service holds.

It waits on the event loop, without a thread: so it can be given up at any moment, and a coordinator
that ends does not wait for it.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, Protocol
from urllib.parse import SplitResult, urlsplit

from concertina_worker.coordinator.connections.service import ServiceUnavailableError
from concertina_worker.protocol import HELD_SECONDS, WAKE_PATH

_PATIENCE_SECONDS: Final = HELD_SECONDS + 10.0  # for an answer, however slow
_CONNECT_SECONDS: Final = 10.0
_LONGEST_BODY: Final = 64 * 1024


class Waker(Protocol):
    """The port: it says when the service wants a report."""

    async def is_woken(self, *, heard_seconds: float) -> bool:
        """Wait; True: report now; False: there was no reason for a while.

        Raises:
            ServiceUnavailableError: nobody holds the request; ask again later.
        """


@dataclass(frozen=True, slots=True)
class _Line:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


class HttpWaker:
    """The service over HTTP, on a connection that is kept from one request to the next."""

    def __init__(self, *, url: str, job_id: str, token: Callable[[], str]) -> None:
        self._address = urlsplit(url.rstrip("/") + WAKE_PATH.format(job_id=job_id))
        self._token = token
        self._line: _Line | None = None

    async def is_woken(self, *, heard_seconds: float) -> bool:
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                status = await self._ask(heard_seconds)
        except (OSError, EOFError, LookupError, ValueError, asyncio.LimitOverrunError) as error:
            self.hang_up()
            raise ServiceUnavailableError(str(error)) from error
        except BaseException:
            self.hang_up()
            raise
        if status not in {HTTPStatus.OK, HTTPStatus.NO_CONTENT}:
            raise ServiceUnavailableError(f"HTTP {status}")
        return status == HTTPStatus.OK

    def hang_up(self) -> None:
        """Close the connection; the next request makes another."""
        if self._line is not None:
            self._line.writer.close()
        self._line = None

    async def _ask(self, heard_seconds: float) -> int:
        if self._line is None or self._line.reader.at_eof():
            self.hang_up()
            self._line = await _call(self._address)
        line = self._line
        line.writer.write(self._request(heard_seconds))
        await line.writer.drain()
        head = (await line.reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().splitlines()
        headers = dict(one.split(":", 1) for one in head[1:] if ":" in one)
        length = int(headers.get("content-length", "0"))
        if length > _LONGEST_BODY:
            raise ValueError("the answer is too long")
        await line.reader.readexactly(length)
        if headers.get("connection", "").strip() == "close" or "transfer-encoding" in headers:
            self.hang_up()
        return int(head[0].split()[1])

    def _request(self, heard_seconds: float) -> bytes:
        lines = (
            f"GET {self._address.path}?heard={heard_seconds:.3f} HTTP/1.1",
            f"Host: {self._address.netloc.rpartition('@')[2]}",
            f"Authorization: Bearer {self._token()}",
            "Accept: application/json",
        )
        return "".join(f"{one}\r\n" for one in (*lines, "")).encode("latin-1")


async def _call(address: SplitResult) -> _Line:
    is_encrypted = address.scheme == "https"
    port = address.port or (443 if is_encrypted else 80)
    context = ssl.create_default_context() if is_encrypted else None
    async with asyncio.timeout(_CONNECT_SECONDS):
        return _Line(*await asyncio.open_connection(address.hostname, port, ssl=context))
