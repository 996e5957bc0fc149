"""What comes back that is more than a document: files of any size, and events as they happen."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from concertina.errors import Unreachable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
    from contextlib import AbstractAsyncContextManager, AbstractContextManager

    from concertina.api.request import ApiRequest

MESSAGE: Final = "message"
_GARBAGE: Final = "Something on the way changes the stream: an event came that is not Concertina's."


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamedResponse:
    """An answer that is read once."""

    status: int
    headers: Mapping[str, str]
    pieces: Iterator[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class AsyncStreamedResponse:
    """An answer that is read once, by who awaits its pieces."""

    status: int
    headers: Mapping[str, str]
    pieces: AsyncIterator[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerEvent:
    """One message of an event stream."""

    name: str
    data: str
    id: str = ""  # empty: as before

    def document(self) -> dict[str, Any]:
        """Return its data. Raises: Unreachable, for what is none of the service's."""
        try:
            found = json.loads(self.data)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise Unreachable(_GARBAGE, is_temporary=False)
        return found


class EventPieces:
    """Puts the pieces of an event stream together to its messages; keep-alives are dropped.

    A line ends where the format says so, and not at what Unicode calls the end of a line, such as
    U+0085, which a text of somebody may contain.
    """

    def __init__(self) -> None:
        self._rest = b""  # of a line that has not ended
        self._name, self._data, self._place = MESSAGE, list[str](), ""

    def take(self, piece: bytes) -> Iterator[ServerEvent]:
        """Yield the messages that end within this piece."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            text = line.removesuffix(b"\r").decode(errors="replace")
            if (event := self._ended_by(text)) is not None:
                yield event

    def _ended_by(self, line: str) -> ServerEvent | None:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        whole = None
        if not line:
            if self._data or self._name != MESSAGE:
                whole = ServerEvent(name=self._name, data="\n".join(self._data), id=self._place)
            self._name, self._data, self._place = MESSAGE, [], ""
        elif field == "event":
            self._name = value
        elif field == "data":
            self._data.append(value)
        elif field == "id":
            self._place = value
        return whole


def server_events(pieces: Iterable[bytes]) -> Iterator[ServerEvent]:
    """Split an event stream into its messages; comments (keep-alives) are dropped."""
    taken = EventPieces()
    for piece in pieces:
        yield from taken.take(piece)


class BlockingSender(Protocol):
    """Sends requests, and returns when the answer is here."""

    def answer(self, request: ApiRequest) -> Any: ...

    def text(self, request: ApiRequest) -> str: ...

    def file(self, request: ApiRequest) -> AbstractContextManager[StreamedResponse]: ...

    def events(self, request: ApiRequest) -> AbstractContextManager[Iterator[ServerEvent]]: ...


class AsyncSender(Protocol):
    """Sends requests for those who await the answers."""

    async def answer(self, request: ApiRequest) -> Any: ...

    async def text(self, request: ApiRequest) -> str: ...

    def file(self, request: ApiRequest) -> AbstractAsyncContextManager[AsyncStreamedResponse]: ...

    def events(
        self, request: ApiRequest
    ) -> AbstractAsyncContextManager[AsyncIterator[ServerEvent]]: ...
