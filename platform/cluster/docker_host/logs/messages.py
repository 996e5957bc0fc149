"""How are the bytes of Docker's answer to a request for logs taken apart into messages?

Beside what the container wrote to its two streams, Docker says there itself why it cannot read on.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

_HEADER: Final = struct.Struct(">BxxxL")  # stream and length of a frame
_STREAMS: Final = {1: "stdout", 2: "stderr"}
_STAMP_BYTES: Final = len("2026-11-21T07:33:19.123456789Z")


@dataclass(frozen=True, slots=True)
class Message:
    """A line, or a piece of a long one."""

    stream: str
    at: str  # as Docker writes moments, with nine digits of the second
    text: bytes
    is_whole: bool  # ends its line


def messages(
    chunks: Iterable[bytes], *, complain: Callable[[str], None]
) -> Iterator[list[Message]]:
    """Yield what each chunk of the answer made whole; `complain` hears Docker's own words."""
    rest = b""
    for chunk in chunks:
        frames, rest = _taken_apart(rest + chunk)
        for stream, frame in frames:
            if stream not in _STREAMS:
                complain(frame.decode(errors="replace").strip())
        yield [_message(_STREAMS[one], frame) for one, frame in frames if one in _STREAMS]


def _taken_apart(data: bytes) -> tuple[list[tuple[int, bytes]], bytes]:
    found = []
    start = 0
    while len(data) - start >= _HEADER.size:
        stream, length = _HEADER.unpack_from(data, start)
        end = start + _HEADER.size + length
        if end > len(data):
            break
        found.append((stream, data[start + _HEADER.size : end]))
        start = end
    return found, data[start:]


def _message(stream: str, frame: bytes) -> Message:
    return Message(
        stream=stream,
        at=frame[:_STAMP_BYTES].decode(errors="replace"),
        text=frame[_STAMP_BYTES + 1 :].removesuffix(b"\n"),
        is_whole=frame.endswith(b"\n"),
    )
