"""How are the operations of the API sent? Again for a while, if the service is away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from concertina.connection.answers import SILENCE_SECONDS
from concertina.connection.retrying import retry
from concertina.errors import Unreachable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
    from contextlib import AbstractAsyncContextManager, AbstractContextManager

    from concertina.api.answers import AsyncStreamedResponse, ServerEvent, StreamedResponse
    from concertina.api.request import ApiRequest
    from concertina.connection.async_transport import AsyncTransport
    from concertina.connection.retrying import RemainingRetries
    from concertina.connection.transport import Transport


class RetryingSender:
    """Sends, and returns when the answer is here. Files and streams are opened once."""

    def __init__(self, transport: Transport, patience: Callable[[], RemainingRetries]) -> None:
        self._transport = transport
        self._patience = patience

    def send(self, request: ApiRequest) -> tuple[int, Any]:
        return retry(
            lambda: self._transport.send(request),
            patience=self._patience(),
            is_repeatable=request.is_repeatable,
        )

    def answer(self, request: ApiRequest) -> Any:
        return self.send(request)[1]

    def text(self, request: ApiRequest) -> str:
        read = self._transport.text
        return retry(lambda: read(request.path, request.params), patience=self._patience())

    def file(self, request: ApiRequest) -> AbstractContextManager[StreamedResponse]:
        return self._transport.receive(request.path, request.params, request.headers)

    def events(
        self, request: ApiRequest, *, silence_seconds: float = SILENCE_SECONDS
    ) -> AbstractContextManager[Iterator[ServerEvent]]:
        return self._transport.events(
            request.path,
            request.params,
            request.headers,
            body=request.body,
            silence_seconds=silence_seconds,
        )


class AsyncRetryingSender:
    """Sends for who awaits the answer."""

    def __init__(
        self,
        transport: AsyncTransport,
        patience: Callable[[], RemainingRetries],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._transport = transport
        self._patience = patience
        self._sleep = sleep

    async def send(self, request: ApiRequest) -> tuple[int, Any]:
        patience = self._patience()
        while True:
            try:
                return await self._transport.send(request)
            except Unreachable as error:
                await self._sleep(
                    patience.seconds_after(error, is_repeatable=request.is_repeatable)
                )

    async def answer(self, request: ApiRequest) -> Any:
        return (await self.send(request))[1]

    async def text(self, request: ApiRequest) -> str:
        patience = self._patience()
        while True:
            try:
                return await self._transport.text(request)
            except Unreachable as error:
                await self._sleep(patience.seconds_after(error))

    def file(self, request: ApiRequest) -> AbstractAsyncContextManager[AsyncStreamedResponse]:
        return self._transport.file(request)

    def events(
        self, request: ApiRequest, *, silence_seconds: float = SILENCE_SECONDS
    ) -> AbstractAsyncContextManager[AsyncIterator[ServerEvent]]:
        return self._transport.events(request, silence_seconds=silence_seconds)
