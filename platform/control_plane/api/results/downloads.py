"""How does a file of any size leave the service? In pieces, and as nothing that a browser runs.

Jobs write what they like. So every file is an attachment, of a type that no browser executes, and
browsers are told not to guess another.
"""

from __future__ import annotations

import asyncio
import re
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import Final, Protocol
from urllib.parse import quote

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import http_date
from rest_framework.request import Request
from storage.results import archives
from storage.results.opening import OpenFile
from tenancy.access.grants import grant_of

from control_plane.api.logs.event_stream import stream_slots
from control_plane.api.logs.shared_slots import StreamSlot

_READERS: Final = 4  # threads of this process that read for all downloads
_RANGE: Final = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
_TEXT: Final = "text/plain; charset=utf-8"
_TYPES: Final = {  # none of which runs anything; all others are octets
    ".csv": _TEXT,
    ".gif": "image/gif",
    ".gz": "application/gzip",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".json": "application/json",
    ".log": _TEXT,
    ".md": _TEXT,
    ".png": "image/png",
    ".txt": _TEXT,
    ".yaml": _TEXT,
    ".yml": _TEXT,
}
_OCTETS: Final = "application/octet-stream"
_TAR: Final = "application/x-tar"
_HARMLESS: Final = {
    "Cache-Control": "private, no-cache",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "X-Accel-Buffering": "no",  # a stream: no proxy, and nothing of ours, keeps it whole
}

_readers: Final = ThreadPoolExecutor(_READERS, thread_name_prefix="result-reader")


class SizedContent(Protocol):
    """Bytes whose number is known before they are sent; whoever holds this closes it."""

    @property
    def size(self) -> int: ...

    @property
    def modified_at(self) -> float: ...

    @property
    def etag(self) -> str:
        """Return another for another content; this costs little, and `size` may cost more."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Which bytes of a file are asked for."""

    start: int
    end: int  # behind the last one
    is_all: bool


class Pieces:
    """What a generator yields, read in threads; it is closed behind its last piece.

    An answer that ends before, however that happens, closes it as well.
    """

    def __init__(self, pieces: Generator[bytes], close: Callable[[], None] = lambda: None) -> None:
        """`close` is called after the generator's own."""
        self._pieces = pieces
        self._close = close
        self._lock = threading.RLock()  # a thread may still read when the client is gone
        self._is_closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        while (piece := await loop.run_in_executor(_readers, self._next)) is not None:
            if piece:
                yield piece

    def close(self) -> None:
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                self._pieces.close()
                self._close()

    def _next(self) -> bytes | None:
        """Return the next piece; None: that was all."""
        with self._lock:
            piece = None if self._is_closed else next(self._pieces, None)
            if piece is None:
                self.close()
            return piece


class _Download(StreamingHttpResponse):
    """An answer that holds a stream slot until it is closed, or nobody refers to it any more."""

    def __init__(self, slot: StreamSlot, pieces: Pieces, **more: str | int) -> None:
        self._leave = weakref.finalize(self, stream_slots.leave, slot)
        headers = {**_HARMLESS, **{name: str(value) for name, value in more.items()}}
        super().__init__(pieces, headers=headers)

    def close(self) -> None:
        super().close()
        self._leave()


def of_file(request: Request, team_id: int, file: OpenFile, name: str) -> HttpResponseBase:
    """Answer with a team's file, or the part of it that is asked for; it is closed afterwards.

    Raises:
        Throttled: the caller, or its team, has as many streams as it may.
    """
    return of_content(request, team_id, file, name, partial(archives.content, file))


def of_content(
    request: Request,
    team_id: int,
    whole: SizedContent,
    name: str,
    between: Callable[[int, int], Generator[bytes]],
) -> HttpResponseBase:
    """Answer with what `between` yields from one byte to before another; `whole` is closed then.

    Raises:
        Throttled: the caller, or its team, has as many streams as it may.
    """
    try:
        return _of_content(request, team_id, whole, name, between)
    except BaseException:
        whole.close()
        raise


def _of_content(
    request: Request,
    team_id: int,
    whole: SizedContent,
    name: str,
    between: Callable[[int, int], Generator[bytes]],
) -> HttpResponseBase:
    headers: dict[str, str | int] = {
        "Accept-Ranges": "bytes",
        "ETag": whole.etag,
        "Last-Modified": http_date(whole.modified_at),
        "Content-Type": _TYPES.get(PurePosixPath(name).suffix.lower(), _OCTETS),
        "Content-Disposition": attachment(name),
    }
    if not {whole.etag, "*"}.isdisjoint(_tags(request.headers.get("If-None-Match", ""))):
        return _without_content(304, headers, whole)  # which says nothing of its length
    slot = _slot_for(request, team_id)  # before the size, for which all of it may have to be read
    with ExitStack() as held:
        held.callback(stream_slots.leave, slot)
        part = _part(request, whole)
        if part is None:
            headers |= {"Content-Range": f"bytes */{whole.size}", "Content-Length": 0}
            return _without_content(416, headers, whole)
        status = 200 if part.is_all else 206
        if not part.is_all:
            headers["Content-Range"] = f"bytes {part.start}-{part.end - 1}/{whole.size}"
        headers["Content-Length"] = part.end - part.start
        if request.method == "HEAD":
            return _without_content(status, headers, whole)
        pieces = Pieces(between(part.start, part.end), whole.close)
        answer = _Download(slot, pieces, **headers)
        held.pop_all()  # the answer leaves it
    answer.status_code = status
    return answer


def _slot_for(request: Request, team_id: int) -> StreamSlot:
    return stream_slots.take(grant_of(request, team_id=team_id).holder, team=str(team_id))


def _without_content(
    status: int, headers: dict[str, str | int], whole: SizedContent
) -> HttpResponse:
    whole.close()
    all_headers = {**_HARMLESS, **{key: str(value) for key, value in headers.items()}}
    return HttpResponse(status=status, headers=all_headers)


def of_archive(
    request: Request, team_id: int, pieces: Generator[bytes], name: str
) -> StreamingHttpResponse:
    """Answer with an archive while it is made.

    Raises:
        ResultUnknown: there is no such folder.
        Throttled: the caller, or its team, has as many streams as it may.
    """
    return of_stream(request, team_id, Pieces(_begun(pieces)), name, _TAR)


def of_stream(
    request: Request, team_id: int, pieces: Pieces, name: str, content_type: str
) -> StreamingHttpResponse:
    """Answer with something that is no file.

    Raises:
        Throttled: the caller, or its team, has as many streams as it may.
    """
    headers = {"Content-Type": content_type, "Content-Disposition": attachment(name)}
    return _Download(_slot_for(request, team_id), pieces, **headers)


def _begun(pieces: Generator[bytes]) -> Generator[bytes]:
    """Read the first piece, so that the answer's status tells of what is not there."""
    first = next(pieces)

    def all_of_them() -> Generator[bytes]:
        with closing(pieces):
            yield first
            yield from pieces

    return all_of_them()


def attachment(name: str) -> str:
    """Return the header that has a browser store what it gets under this name."""
    plain = "".join(letter if letter.isprintable() else "_" for letter in name)
    if plain.isascii():
        escaped = plain.replace("\\", "_").replace('"', "_")
        return f'attachment; filename="{escaped}"'
    return f"attachment; filename*=utf-8''{quote(plain, safe='')}"


def _part(request: Request, file: SizedContent) -> _Part | None:
    """Return which bytes are asked for; None: the file has none of them."""
    whole = _Part(start=0, end=file.size, is_all=True)
    found = _RANGE.fullmatch(request.headers.get("Range", ""))
    condition = request.headers.get("If-Range", "")
    if found is None or (condition and condition != file.etag) or not any(found.groups()):
        return whole
    first, last = found.groups()
    if not first:
        start, end = max(file.size - int(last), 0), file.size
    else:
        start, end = int(first), min(int(last) + 1 if last else file.size, file.size)
    if last and first and int(last) < int(first):
        return whole
    return None if start >= end else _Part(start=start, end=end, is_all=False)


def _tags(header: str) -> set[str]:
    return {tag.strip().removeprefix("W/") for tag in header.split(",")}
