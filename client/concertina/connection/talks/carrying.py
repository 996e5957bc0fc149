"""How are the steps of a talk carried out? By who blocks for each, and by who awaits it."""

from __future__ import annotations

from contextlib import AsyncExitStack, ExitStack
from typing import TYPE_CHECKING, Any, Generic, Self

from concertina.api.request import ApiRequest
from concertina.connection.talks.steps import OpenStream, Pause, Result, Said, Talk, TalkStep
from concertina.errors import ConcertinaError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator

    from concertina.api.answers import ServerEvent
    from concertina.connection.retrying import Clock
    from concertina.connection.senders import AsyncRetryingSender, RetryingSender


class TalkUnderWay(Generic[Result]):
    """A talk, and what it asks for now; None: it has ended with a result."""

    step: TalkStep | None
    result: Result

    def __init__(self, talk: Talk[Result]) -> None:
        self._talk = talk
        self._go_on(lambda: next(talk))

    def hear(self, came: Any) -> None:
        """Tell it what came of its step."""
        self._go_on(lambda: self._talk.send(came))

    def fail(self, error: ConcertinaError) -> None:
        """Raise where it asked for its step."""
        self._go_on(lambda: self._talk.throw(error))

    def end(self) -> None:
        self._talk.close()

    def _go_on(self, ask: Callable[[], TalkStep]) -> None:
        try:
            self.step = ask()
        except StopIteration as end:
            self.step, self.result = None, end.value


def result_of(talk: Talk[Result], do: Callable[[TalkStep], Any]) -> Result:
    """Carry out a talk that tells nothing; return its result."""
    under_way = TalkUnderWay(talk)
    while (step := under_way.step) is not None:
        _go_on(under_way, step, do)
    return under_way.result


def _go_on(under_way: TalkUnderWay[Any], step: TalkStep, do: Callable[[TalkStep], Any]) -> None:
    try:
        came = do(step)
    except ConcertinaError as error:
        under_way.fail(error)
    else:
        under_way.hear(came)


async def awaited_result_of(talk: Talk[Result], do: Callable[[TalkStep], Awaitable[Any]]) -> Result:
    """Carry out a talk that tells nothing; return its result."""
    under_way = TalkUnderWay(talk)
    while (step := under_way.step) is not None:
        await _go_on_later(under_way, step, do)
    return under_way.result


async def _go_on_later(
    under_way: TalkUnderWay[Any], step: TalkStep, do: Callable[[TalkStep], Awaitable[Any]]
) -> None:
    try:
        came = await do(step)
    except ConcertinaError as error:
        under_way.fail(error)
    else:
        under_way.hear(came)


async def result_of_reading(talk: Talk[Result], do: Callable[[TalkStep], Awaitable[Any]]) -> Result:
    """Carry out a talk that reads files for long: in a thread, so that the event loop goes on."""
    from asyncio import to_thread  # noqa: PLC0415 - who blocks does without

    under_way = await to_thread(TalkUnderWay[Result], talk)
    while (step := under_way.step) is not None:
        try:
            came = await do(step)
        except ConcertinaError as error:
            await to_thread(under_way.fail, error)
        else:
            await to_thread(under_way.hear, came)
    return under_way.result


class BlockingSteps:
    """Carries out steps; an open stream is closed with it."""

    def __init__(self, sender: RetryingSender, clock: Clock) -> None:
        self._sender = sender
        self._clock = clock
        self._open = ExitStack()
        self._events: Iterator[ServerEvent] = iter(())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def __call__(self, step: TalkStep) -> Any:
        if isinstance(step, ApiRequest):
            return self._sender.send(step)
        if isinstance(step, Pause):
            self._open.close()
            return self._clock.sleep(step.seconds)
        if isinstance(step, OpenStream):
            self._open.close()
            opened = self._sender.events(step.request, silence_seconds=step.silence_seconds)
            self._events = self._open.enter_context(opened)
            return None
        return next(self._events, None)

    def told(self, talk: Talk[None]) -> Iterator[Any]:
        """Carry out a talk, and give what it tells."""
        under_way = TalkUnderWay(talk)
        with self:
            try:
                while (step := under_way.step) is not None:
                    if isinstance(step, Said):
                        yield step.value
                        under_way.hear(None)
                    else:
                        _go_on(under_way, step, self)
            finally:
                under_way.end()


class AwaitedSteps:
    """Carries out steps for who awaits them; an open stream is closed with it."""

    def __init__(
        self, sender: AsyncRetryingSender, sleep: Callable[[float], Awaitable[None]]
    ) -> None:
        self._sender = sender
        self._sleep = sleep
        self._open = AsyncExitStack()
        self._events: AsyncIterator[ServerEvent] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()

    async def __call__(self, step: TalkStep) -> Any:
        if isinstance(step, ApiRequest):
            return await self._sender.send(step)
        if isinstance(step, Pause):
            await self._open.aclose()
            return await self._sleep(step.seconds)
        if isinstance(step, OpenStream):
            await self._open.aclose()
            opened = self._sender.events(step.request, silence_seconds=step.silence_seconds)
            self._events = await self._open.enter_async_context(opened)
            return None
        return None if self._events is None else await anext(self._events, None)

    async def told(self, talk: Talk[None]) -> AsyncGenerator[Any]:
        """Carry out a talk, and give what it tells."""
        under_way = TalkUnderWay(talk)
        async with self:
            try:
                while (step := under_way.step) is not None:
                    if isinstance(step, Said):
                        yield step.value
                        under_way.hear(None)
                    else:
                        await _go_on_later(under_way, step, self)
            finally:
                under_way.end()
