"""How does one request reach the service for who awaits the answer?"""

from __future__ import annotations

from asyncio import AbstractEventLoop, get_running_loop
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from concertina.api.answers import AsyncStreamedResponse, EventPieces, ServerEvent
from concertina.api.request import fits_a_header
from concertina.connection.answers import (
    SILENCE_SECONDS,
    AnswerReader,
    Speaker,
    http_settings,
    of_silence,
    prove,
)
from concertina.connection.credentials import Credentials
from concertina.connection.http_library import httpx
from concertina.connection.transport import NO_TOKEN
from concertina.errors import NotAllowed

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable

    from concertina.api.request import ApiRequest

_Piece = TypeVar("_Piece")


class AsyncTransport:
    """One attempt per call, as `Transport` makes it; what answers mean is read by the same."""

    def __init__(self, credentials: Credentials) -> None:
        if credentials.token and not fits_a_header(credentials.token):
            raise NotAllowed(NO_TOKEN)
        self._url = credentials.url
        self._credentials = credentials
        self._reader = AnswerReader(credentials.url)
        self._by_loop = WeakKeyDictionary[AbstractEventLoop, Speaker[httpx.AsyncClient]]()

    async def close(self) -> None:
        self._forget_closed_loops()
        if (speaker := self._by_loop.pop(get_running_loop(), None)) is not None:
            await speaker.own.aclose()

    @property
    def _speaker(self) -> Speaker[httpx.AsyncClient]:
        """The speaker of this event loop: connections are of the one in which they were made."""
        loop = get_running_loop()
        if loop not in self._by_loop:
            self._forget_closed_loops()
            self._by_loop[loop] = Speaker(httpx.AsyncClient(**http_settings(self._credentials)))
        return self._by_loop[loop]

    def _forget_closed_loops(self) -> None:
        """Let go of their connections, which hold on to the loops themselves."""
        for loop in [one for one in self._by_loop if one.is_closed()]:
            del self._by_loop[loop]

    @property
    def _http(self) -> httpx.AsyncClient:
        return self._speaker.http

    async def send(self, request: ApiRequest) -> tuple[int, Any]:
        """Return the status with the decoded body. Raises: ConcertinaError, for no success."""
        with self._reader.translated_errors():
            response = await self._http.request(
                request.method,
                request.path,
                params=request.params,
                json=request.body,
                content=request.content,
                headers=request.headers,
            )
        return response.status_code, self._reader.decoded(response)

    async def text(self, request: ApiRequest) -> str:
        """Return an answer that is text. Raises: ConcertinaError, as `send`."""
        async with self._opened(request, timeout=self._http.timeout) as response:
            with self._reader.translated_errors():
                await response.aread()
            return response.text

    @asynccontextmanager
    async def as_nobody(self) -> AsyncIterator[Callable[[], None]]:
        """Leave this task's token out within; what is given is called when a person signed in."""
        nobody = http_settings(Credentials(url=self._url, token=""))
        async with httpx.AsyncClient(**nobody) as http:
            with self._speaker.being(http):
                yield partial(prove, self._url, http)

    @asynccontextmanager
    async def file(self, request: ApiRequest) -> AsyncIterator[AsyncStreamedResponse]:
        """Open an answer of any size. Raises: ConcertinaError, also when the connection breaks."""
        timeout = self._http.timeout
        headers = {"Accept-Encoding": "identity"}  # bytes as they are
        async with (
            self._opened(request, timeout=timeout, more_headers=headers) as response,
            aclosing(self._read(response.aiter_bytes())) as pieces,
        ):
            yield AsyncStreamedResponse(
                status=response.status_code, headers=response.headers, pieces=pieces
            )

    @asynccontextmanager
    async def events(
        self, request: ApiRequest, *, silence_seconds: float = SILENCE_SECONDS
    ) -> AsyncIterator[AsyncIterator[ServerEvent]]:
        """Open an event stream. Raises: ConcertinaError, also when the stream breaks."""
        async with self._opened(request, timeout=of_silence(silence_seconds)) as response:
            self._reader.check_stream(response)
            async with (
                aclosing(_events(response.aiter_bytes())) as told,
                aclosing(self._read(told)) as events,
            ):
                yield events

    async def _read(self, pieces: AsyncIterable[_Piece]) -> AsyncGenerator[_Piece]:
        with self._reader.translated_errors():
            async for piece in pieces:
                yield piece

    @asynccontextmanager
    async def _opened(
        self,
        request: ApiRequest,
        *,
        timeout: httpx.Timeout,  # noqa: ASYNC109 - the library's own, of each single read
        more_headers: dict[str, str] | None = None,
    ) -> AsyncIterator[httpx.Response]:
        headers = {**request.headers, **(more_headers or {})}
        async with AsyncExitStack() as opened:
            with self._reader.translated_errors():
                stream = self._http.stream(
                    request.method,
                    request.path,
                    params=request.params,
                    headers=headers,
                    json=request.body,
                    timeout=timeout,
                )
                response = await opened.enter_async_context(stream)
                if not response.is_success:
                    await response.aread()
                    self._reader.decoded(response)
            yield response


async def _events(pieces: AsyncIterable[bytes]) -> AsyncGenerator[ServerEvent]:
    taken = EventPieces()
    async for piece in pieces:
        for event in taken.take(piece):
            yield event
