"""Do both kinds of clients lead the same talks? Steps are played back here."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest

from concertina.api.answers import ServerEvent
from concertina.api.request import ApiRequest
from concertina.connection.retrying import BRIEF, RemainingRetries
from concertina.connection.talks.carrying import AwaitedSteps, BlockingSteps
from concertina.connection.talks.log_following import LogFollower
from concertina.errors import ConcertinaError, NotAllowed, RefusedByService, Unreachable
from tests.client.manual_clock import ManualClock

Stream = list[ServerEvent | ConcertinaError]


class Script:
    """Gives one stream after the other, or an error in place of it."""

    def __init__(self, *streams: Stream | ConcertinaError) -> None:
        self.streams = list(streams)
        self.asked: list[str] = []
        self.opened = self.closed = 0

    def _begin(self, request: ApiRequest) -> Stream:
        self.asked.append(request.headers.get("Last-Event-ID", ""))
        stream = self.streams.pop(0)
        if isinstance(stream, ConcertinaError):
            raise stream
        self.opened += 1
        return stream

    @contextmanager
    def events(
        self, request: ApiRequest, *, silence_seconds: float
    ) -> Iterator[Iterator[ServerEvent]]:
        assert silence_seconds == 60
        stream = self._begin(request)
        try:
            yield _played(stream)
        finally:
            self.closed += 1


class AwaitedScript(Script):
    @asynccontextmanager
    async def events(  # type: ignore[override]  # awaited
        self, request: ApiRequest, *, silence_seconds: float
    ) -> AsyncIterator[AsyncIterator[ServerEvent]]:
        assert silence_seconds == 60
        stream = self._begin(request)
        try:
            yield _played_later(stream)
        finally:
            self.closed += 1


def _played(stream: Stream) -> Iterator[ServerEvent]:
    for event in stream:
        if isinstance(event, ConcertinaError):
            raise event
        yield event


async def _played_later(stream: Stream) -> AsyncIterator[ServerEvent]:
    for event in _played(stream):
        yield event


def line(place: str, text: str) -> ServerEvent:
    return ServerEvent(name="message", data=f'{{"text": "{text}"}}', id=place)


BEGIN = ServerEvent(name="begin", data='{"has_earlier": true, "is_trimmed": false}', id="0")
END = ServerEvent(name="end", data="{}")
Read = Callable[..., tuple[list[str], Script, ManualClock, list[str]]]


def read_blocking(*streams: Stream | ConcertinaError, most: int = 99) -> Any:
    clock, script, said = ManualClock(), Script(*streams), list[str]()
    follower = LogFollower(patience=RemainingRetries(BRIEF, clock), notice=said.append)
    steps = BlockingSteps(script, clock)  # type: ignore[arg-type]  # plays back
    lines = list[str]()
    told = steps.told(follower.lines("job", worker=None, tail=9))
    for one in told:
        lines.append(one["text"])
        if len(lines) == most:
            break
    told.close()  # type: ignore[attr-defined]  # a generator
    return lines, script, clock, said


def read_awaited(*streams: Stream | ConcertinaError, most: int = 99) -> Any:
    clock, script, said = ManualClock(), AwaitedScript(*streams), list[str]()
    follower = LogFollower(patience=RemainingRetries(BRIEF, clock), notice=said.append)

    async def sleep(seconds: float) -> None:
        clock.sleep(seconds)

    async def read() -> list[str]:
        steps = AwaitedSteps(script, sleep)  # type: ignore[arg-type]  # plays back
        lines = list[str]()
        told = steps.told(follower.lines("job", worker=None, tail=9))
        async for one in told:
            lines.append(one["text"])
            if len(lines) == most:
                break
        await told.aclose()  # type: ignore[attr-defined]  # a generator
        return lines

    return asyncio.run(read()), script, clock, said


@pytest.fixture(params=[read_blocking, read_awaited], ids=["blocking", "awaited"])
def read(request: pytest.FixtureRequest) -> Read:
    found: Read = request.param
    return found


def test_a_log_goes_on_behind_the_last_line_after_a_break(read: Read) -> None:
    lines, script, clock, said = read(
        [BEGIN, line("1", "a"), Unreachable("broke")], [BEGIN, line("2", "b"), END]
    )
    assert (lines, script.asked) == (["a", "b"], ["", "1"])
    assert (script.opened, script.closed) == (2, 2)
    assert clock.naps == [0.5]
    assert len(said) == 1


def test_a_service_that_is_away_is_asked_again_for_a_while(read: Read) -> None:
    lines, script, clock, _ = read(Unreachable("away"), Unreachable("away"), [line("1", "a"), END])
    assert (lines, clock.naps, script.closed) == (["a"], [0.2, 0.4], 1)
    with pytest.raises(Unreachable, match="away"):
        read(*[Unreachable("away")] * 99)


def test_a_place_that_is_gone_is_forgotten_and_a_first_refusal_is_told(read: Read) -> None:
    lines, script, _, _ = read([line("1", "a")], RefusedByService("gone"), [line("5", "b"), END])
    assert (lines, script.asked) == (["a", "b"], ["", "1", ""])
    with pytest.raises(RefusedByService, match="no job"):
        read(RefusedByService("no job"))


def test_who_may_no_longer_read_is_told_and_the_stream_is_closed(read: Read) -> None:
    refused = ServerEvent(name="refused", data='{"message": "revoked", "code": "x"}')
    with pytest.raises(NotAllowed, match="revoked"):
        read([refused])


def test_whoever_stops_listening_closes_the_stream(read: Read) -> None:
    lines, script, _, _ = read([line("1", "a"), line("2", "b"), END], most=1)
    assert (lines, script.opened, script.closed) == (["a"], 1, 1)
