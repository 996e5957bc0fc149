"""What comes back that is more than a document: files of any size, and events as they happen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
    from contextlib import AbstractAsyncContextManager, AbstractContextManager

    from concertina.api.request import ApiRequest

MESSAGE: Final = "message"


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


class EventLines:
    """Puts the lines of an event stream together to its messages; keep-alives are dropped."""

    def __init__(self) -> None:
        self._name, self._data, self._place = MESSAGE, list[str](), ""

    def take(self, line: str) -> ServerEvent | None:
        """Return the message that ends with this line, if one does."""
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


def server_events(lines: Iterable[str]) -> Iterator[ServerEvent]:
    """Split an event stream's lines into its messages; comments (keep-alives) are dropped."""
    taken = EventLines()
    for line in lines:
        if (event := taken.take(line)) is not None:
            yield event


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
