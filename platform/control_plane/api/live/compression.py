"""How is an event compressed once for all who look? As blocks that any stream can carry.

A stream of deflate consists of blocks. Those of an event refer to nothing before them and end with
a whole byte, so each viewer's stream is a gzip header, the blocks of the events that the viewer is
sent, and a checksum of its own (RFC 1951 and 1952).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

_LEVEL: Final = 6
_HEADER: Final = b"\x1f\x8b\x08\x00" + b"\x00" * 4 + b"\x00\xff"  # no name, no time, no system
_LAST_BLOCK: Final = b"\x03\x00"  # with nothing in it


@dataclass(frozen=True, slots=True)
class PageEvent:
    """A server-sent event, as it is and as blocks."""

    plain: bytes
    blocks: bytes

    @classmethod
    def of(cls, plain: bytes) -> PageEvent:
        deflate = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        blocks = deflate.compress(plain) + deflate.flush(zlib.Z_FULL_FLUSH)
        return cls(plain, blocks)


async def plain(events: AsyncGenerator[PageEvent]) -> AsyncGenerator[bytes]:
    """Yield events as they are."""
    async with aclosing(events):
        async for event in events:
            yield event.plain


async def gzipped(events: AsyncGenerator[PageEvent]) -> AsyncGenerator[bytes]:
    """Yield a gzip file, each event of which can be read when it has come."""
    checksum = length = 0
    head = _HEADER
    async with aclosing(events):
        async for event in events:
            checksum = zlib.crc32(event.plain, checksum)
            length += len(event.plain)
            yield head + event.blocks
            head = b""
    yield head + _LAST_BLOCK + struct.pack("<LL", checksum, length & 0xFFFFFFFF)
