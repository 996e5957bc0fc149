"""How does one request reach the service for who awaits the answer?"""

from __future__ import annotations

from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from concertina.api.answers import AsyncStreamedResponse, EventLines, ServerEvent
from concertina.api.request import fits_a_header
from concertina.connection.answers import (
    SILENCE_SECONDS,
    AnswerReader,
    SpokenFor,
    http_settings,
    of_silence,
)
from concertina.connection.http_library import httpx
from concertina.connection.transport import NO_TOKEN
from concertina.errors import NotAllowed

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator

    from concertina.api.request import ApiRequest
    from concertina.connection.credentials import Credentials

_Piece = TypeVar("_Piece")


class AsyncTransport:
    """One attempt per call, as `Transport` makes it; what answers mean is read by the same."""

    def __init__(self, credentials: Credentials) -> None:
        if credentials.token and not fits_a_header(credentials.token):
            raise NotAllowed(NO_TOKEN)
        self._url = credentials.url
        self._reader = AnswerReader(credentials.url)
        self._http = httpx.AsyncClient(**http_settings(credentials))

    async def close(self) -> None:
        await self._http.aclose()

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
            await response.aread()
            return response.text

    def speak_for_person(self) -> SpokenFor:
        """Leave the token out from now on; the one that is returned puts it back."""
        return SpokenFor(self._url, self._http.headers, self._http.cookies)

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
        async with (
            self._opened(request, timeout=of_silence(silence_seconds)) as response,
            aclosing(_events(response.aiter_lines())) as lines,
            aclosing(self._read(lines)) as events,
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
        with self._reader.translated_errors():
            async with self._http.stream(
                request.method,
                request.path,
                params=request.params,
                headers=headers,
                json=request.body,
                timeout=timeout,
            ) as response:
                if not response.is_success:
                    await response.aread()
                    self._reader.decoded(response)
                yield response


async def _events(lines: AsyncIterable[str]) -> AsyncGenerator[ServerEvent]:
    taken = EventLines()
    async for line in lines:
        if (event := taken.take(line)) is not None:
            yield event
