"""Which shared libraries does a program or library ask for? Read from its ELF file.

`ldd` would tell too, but it loads each of hundreds of libraries, some of half a gigabyte.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_MAGIC = b"\x7fELF\x02\x01"  # 64 bits, little-endian: all that PyTorch is built for
_LOAD, _DYNAMIC, _INTERPRETER = 1, 2, 3  # kinds of program headers
_END, _NEEDED, _STRINGS = 0, 1, 5  # tags of the dynamic section


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What the file asks the loader for."""

    libraries: tuple[str, ...] = ()  # names such as libm.so.6
    loader: str | None = None  # path of the loader; programs only


@dataclass(frozen=True, slots=True, kw_only=True)
class _Segment:
    kind: int
    offset: int
    address: int
    size: int


def needs(file: Path) -> Needs | None:
    """What it asks for; None: it is no such file."""
    with file.open("rb") as stream:
        if stream.read(len(_MAGIC)) != _MAGIC:
            return None
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return _read(content)


def _read(content: mmap.mmap) -> Needs:
    segments = list(_segments(content))
    dynamic = [pair for one in segments if one.kind == _DYNAMIC for pair in _pairs(content, one)]
    strings = next((value for tag, value in dynamic if tag == _STRINGS), 0)
    start = _offset_of(strings, segments)
    return Needs(
        libraries=tuple(_text(content, start + value) for tag, value in dynamic if tag == _NEEDED),
        loader=next(
            (_text(content, one.offset) for one in segments if one.kind == _INTERPRETER), None
        ),
    )


def _segments(content: mmap.mmap) -> Iterator[_Segment]:
    (table,) = struct.unpack_from("<Q", content, 32)
    size, count = struct.unpack_from("<HH", content, 54)
    for number in range(count):
        kind, _, offset, address, _, length = struct.unpack_from(
            "<IIQQQQ", content, table + number * size
        )
        yield _Segment(kind=kind, offset=offset, address=address, size=length)


def _pairs(content: mmap.mmap, dynamic: _Segment) -> Iterator[tuple[int, int]]:
    for at in range(dynamic.offset, dynamic.offset + dynamic.size, 16):
        tag, value = struct.unpack_from("<QQ", content, at)
        if tag == _END:
            return
        yield tag, value


def _offset_of(address: int, segments: list[_Segment]) -> int:
    """Where in the file lies what the loader puts at this address?"""
    for one in segments:
        if one.kind == _LOAD and one.address <= address < one.address + one.size:
            return address - one.address + one.offset
    return address


def _text(content: mmap.mmap, start: int) -> str:
    return content[start : content.find(b"\0", start)].decode()
