"""How do bytes get from a worker to a listed host and back? Through `CONNECT`, and unread.

Workers run a tenant's code: heads have a length and a time, and there are so many tunnels at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from concertina_worker.coordinator.gate.reachable import Reachable

MOST_TUNNELS: Final = 256  # of all workers; guessed: loaders hold a few each
_HEAD_BYTES: Final = 16 << 10
_HEAD_SECONDS: Final = 15.0
_CALL_SECONDS: Final = 20.0
_PIECE: Final = 64 << 10
_CONNECT: Final = re.compile(rb"CONNECT (\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]{1,253}):([0-9]{1,5}) ")
_LARGEST_PORT: Final = 65_535
_NO_CALL: Final = (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError)
_ALIVE: Final = (  # an end that is gone without a word is missed after two minutes
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 60),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 20),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3),
)

_log = logging.getLogger(__name__)


class TunnelRefused(Exception):
    """No tunnel is made; the message is for the worker's log."""

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(slots=True, kw_only=True)
class Gate:
    """Serves the workers of one job."""

    reachable: Reachable
    most: int = MOST_TUNNELS
    _open: set[asyncio.Task[None]] = field(default_factory=set)

    async def listen(self, host: str, port: int) -> asyncio.Server:
        return await asyncio.start_server(self._serve, host, port, limit=_HEAD_BYTES)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        this = asyncio.current_task()
        assert this is not None  # noqa: S101 - a server calls it in one
        self._open.add(this)
        try:
            await self._tunnel(reader, writer)
        except TunnelRefused as refusal:
            _log.warning("Refused: %s action=refuse", refusal)
            with contextlib.suppress(OSError):
                writer.write(_answer(refusal.status, f"{refusal}\n"))
                await writer.drain()
        except _NO_CALL as end:
            _log.debug("Whoever called is gone, or says nothing to understand: %r", end)
        finally:
            await _hang_up(writer)
            self._open.discard(this)

    async def _tunnel(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_HEAD_SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
        if len(self._open) > self.most:
            raise TunnelRefused("503 Busy", f"{self.most} connections are open. Close some first.")
        host, port = _target(head)
        if not self.reachable.lists(host, port):
            raise TunnelRefused(
                "403 Forbidden",
                f"{host}:{port} is not listed for this team: {self.reachable}. Ask an admin.",
            )
        there, to_there = await self._call(host, port)
        for end in (writer, to_there):
            for option in _ALIVE:
                end.get_extra_info("socket").setsockopt(*option)
        writer.write(_answer("200 Connection established"))
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(_carry(reader, to_there))
                both.create_task(_carry(there, writer))
        except* OSError as lost:
            _log.debug("One end is lost, and with it the tunnel: %r", lost)
        finally:
            await _hang_up(to_there)

    async def _call(
        self, host: str, port: int
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Call the addresses that the name has now, in turn, and no name. Raises: TunnelRefused."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_CALL_SECONDS):
                found = await loop.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
                addresses = self.reachable.among((str(one[4][0]) for one in found), host, port)
                return await _first_that_answers(addresses, port)
        except OSError as problem:  # a TimeoutError is one
            said = str(problem) or "no answer"
            raise TunnelRefused(
                "502 Bad Gateway", f"{host}:{port} cannot be called: {said}"
            ) from problem


async def _hang_up(writer: asyncio.StreamWriter) -> None:
    """It counts as open until what was written has left, and the socket is closed."""
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


async def _first_that_answers(
    addresses: Sequence[str], port: int
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Raises: OSError, of the last one."""
    problem = OSError("it has no address that may be called")
    for address in addresses:
        try:
            return await asyncio.open_connection(address, port)
        except OSError as trouble:
            problem = trouble
    raise problem


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One way, until its end; the other way may go on."""
    while piece := await reader.read(_PIECE):
        writer.write(piece)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


def _target(head: bytes) -> tuple[str, int]:
    """Raises: TunnelRefused."""
    found = _CONNECT.match(head)
    if found is None or not 0 < int(found[2]) <= _LARGEST_PORT:
        raise TunnelRefused(
            "405 Not allowed", "Only CONNECT leads out, as https uses it: write https:// addresses."
        )
    return found[1].decode(), int(found[2])


def _answer(status: str, text: str = "") -> bytes:
    head = f"HTTP/1.1 {status}\r\n"
    if text:
        body = text.encode()
        head += f"Content-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
        return f"{head}Connection: close\r\n\r\n".encode() + body
    return f"{head}\r\n".encode()
