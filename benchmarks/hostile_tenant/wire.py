"""How does an attacker speak HTTP? As cheaply as can be, from an address of its own."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ADDRESS = "127.0.0.66"  # another one than that of the service's own people and coordinators
_LONGEST_ANSWER_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The service, and by which tokens the hostile team speaks to it."""

    port: int
    tokens: tuple[str, ...]
    jobs: tuple[str, ...]  # that run
    reporting: Mapping[str, tuple[str, int]]  # a coordinator's token and term, by job
    seen: Counter[str] = field(default_factory=Counter)  # answers, by status

    def request(
        self,
        method: str,
        path: str,
        *,
        token: str = "",
        body: bytes = b"",
        headers: str = "",
        announces: int | None = None,
    ) -> bytes:
        """A request as bytes; it may announce another length than its body has."""
        size = len(body) if announces is None else announces
        proof = f"Authorization: Bearer {token}\r\n" if token else ""
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n{proof}{headers}"
            f"Content-Type: application/json\r\nContent-Length: {size}\r\n\r\n"
        )
        return head.encode() + body

    async def open(self) -> Connection:
        """A connection from the attackers' address."""
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", self.port, local_addr=(ADDRESS, 0)
        )
        return Connection(reader, writer, self.seen)


@dataclass(frozen=True, slots=True)
class Connection:
    """One connection, used for one request after the other."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    seen: Counter[str]

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        """Send it whole, and read the answer whole."""
        self.writer.write(request)
        async with asyncio.timeout(_LONGEST_ANSWER_SECONDS):
            status, length = await self._head()
            body = await self.reader.readexactly(length)
        self.seen[str(status)] += 1
        return status, body

    async def _head(self) -> tuple[int, int]:
        begin = await self.reader.readline()
        if not begin:
            raise ConnectionResetError  # it was closed instead of an answer
        status, length = int(begin.split()[1]), 0
        while (line := await self.reader.readline()).strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        return status, length

    def close(self) -> None:
        self.writer.close()


def document(value: Any) -> bytes:
    return json.dumps(value).encode()
