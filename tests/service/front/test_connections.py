"""Are connections to the api bounded, and those that ask for nothing let go?"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest
from control_plane import gunicorn_worker
from control_plane.front.asgi_types import Receive, Scope, Send
from control_plane.front.callers import Callers
from control_plane.front.connections import (
    CHANGES_PER_SECOND,
    LONGEST_WAIT_SECONDS,
    MOST_OF_ONE_JOB,
    ClientConnections,
)
from control_plane.gunicorn_worker import BoundedProtocol
from gunicorn.config import Config

GET = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
Connect = Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


class Worker:
    """What gunicorn's protocol needs of its worker."""

    def __init__(self, *, worker_connections: int) -> None:
        self.cfg = Config()
        self.log = Log()
        self.asgi = application
        self.connections = gunicorn_worker.connections(2 * worker_connections, proxies=0)
        self.loop = asyncio.get_running_loop()
        self.nr_conns = self.nr = 0
        self.max_requests = 1000
        self.alive = True
        self.state: dict[str, Any] = {}


class Log:
    """gunicorn's logger, as far as a request needs it."""

    access_log_enabled = False

    def __getattr__(self, name: str) -> Any:
        return getattr(logging.getLogger("gunicorn"), name)

    def access(self, *_: Any) -> None:
        """Say nothing."""


def serve(story: Callable[[Connect, Worker], Awaitable[None]], *, most: int) -> None:
    async def run() -> None:
        worker = Worker(worker_connections=most)
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: BoundedProtocol(worker), "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        opened: list[asyncio.StreamWriter] = []

        async def connect() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            opened.append(writer)
            return reader, writer

        try:
            await story(connect, worker)
        finally:
            for writer in opened:
                writer.close()
            server.close()
            while worker.nr_conns:  # noqa: ASYNC110 - gunicorn tells of no event
                await asyncio.sleep(0.01)

    asyncio.run(run())


async def asked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    writer.write(GET)
    return await reader.readline()


class Slow:
    """An application whose answers wait until they may come."""

    def __init__(self) -> None:
        self.may_answer = asyncio.Event()
        self.asked = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked += 1
        await self.may_answer.wait()
        await application(scope, receive, send)


def test_one_connection_more_than_there_may_be_is_refused_until_another_ends() -> None:
    async def story(connect: Connect, worker: Worker) -> None:
        worker.asgi = slow = Slow()
        first, second = await connect(), await connect()
        for _, writer in (first, second):
            writer.write(GET)
        while slow.asked < 2:  # noqa: ASYNC110 - gunicorn tells of no event
            await asyncio.sleep(0.01)
        reader, _ = await connect()
        told = await reader.read()
        assert told.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
        assert b"Retry-After: 2" in told
        head, _, body = told.partition(b"\r\n\r\n")
        assert f"Content-Length: {len(body)}".encode() in head
        assert worker.nr_conns == 2
        slow.may_answer.set()
        assert await first[0].readline() == b"HTTP/1.1 204 No Content\r\n"
        first[1].close()
        while worker.nr_conns == 2:  # noqa: ASYNC110 - gunicorn tells of no event
            await asyncio.sleep(0.01)
        assert await asked(*await connect()) == b"HTTP/1.1 204 No Content\r\n"

    serve(story, most=2)


def test_who_asks_takes_the_place_of_the_oldest_connection_that_asks_for_nothing() -> None:
    async def story(connect: Connect, worker: Worker) -> None:
        silent, used = await connect(), await connect()
        silent[1].write(GET[:20])
        assert await asked(*used) == b"HTTP/1.1 204 No Content\r\n"
        for _ in range(3):
            assert await asked(*await connect()) == b"HTTP/1.1 204 No Content\r\n"
        assert await silent[0].read() == b""
        assert len(worker.connections) <= 2

    serve(story, most=2)


class Known:
    """A connection, as far as its place is concerned."""

    def __init__(self, *, is_idle: bool = False) -> None:
        self.is_idle = is_idle
        self.is_pushed_out = False

    def push_out(self) -> None:
        self.is_pushed_out = True


def test_one_address_has_half_of_the_connections_and_its_idle_ones_make_room_for_others() -> None:
    here = gunicorn_worker.connections(4, proxies=0)
    loud = [Known(), Known(is_idle=True)]
    assert all(here.enter("loud", one) for one in loud)
    assert here.enter("quiet", Known())
    newest = Known()
    assert here.enter("loud", newest)  # instead of its own idle one
    assert loud[1].is_pushed_out
    assert not here.enter("loud", Known())
    assert here.enter("late", Known())
    assert not here.enter("latest", Known())  # nobody is idle
    newest.is_idle = True
    assert here.enter("latest", Known())
    assert newest.is_pushed_out
    assert len(here) == 4


def test_coordinators_of_one_address_are_not_counted_as_its_own() -> None:
    """A thousand jobs of a site take two each; whoever else comes from there still has its half."""
    here, jobs = gunicorn_worker.connections(20, proxies=0), range(8)
    for job in jobs:
        for _ in range(2):
            one = Known(is_idle=True)
            assert here.seconds_to_wait("site") == 0.0
            assert here.enter("site", one)
            here.belongs_to(f"job:{job}", one)
    assert here.seconds_to_wait("site") == 0.0
    assert len(here) == 16


def test_a_job_has_a_few_connections_and_its_idle_ones_make_room() -> None:
    here = gunicorn_worker.connections(2 * (MOST_OF_ONE_JOB + 2), proxies=0)
    made = [Known(is_idle=True)] + [Known() for _ in range(MOST_OF_ONE_JOB + 1)]
    for one in made:
        assert here.enter("machine", one)
        here.belongs_to("job:a", one)
        here.belongs_to("job:a", one)
    assert [one.is_pushed_out for one in made] == [True] + [False] * (MOST_OF_ONE_JOB + 1)
    others = [Known() for _ in range(MOST_OF_ONE_JOB + 1)]
    assert all(here.enter("machine", one) for one in others)  # beside the one too many of the job
    assert not here.enter("machine", Known())
    for one in (*made[1:], *others):
        here.leave(one)
    assert len(here) == 0


def test_a_request_with_a_jobs_token_makes_its_connection_the_jobs() -> None:
    async def story(connect: Connect, worker: Worker) -> None:
        callers = Callers(session_cookie="s", proxies=0, job_opened_by=lambda _, token: token)

        async def recognising(scope: Scope, receive: Receive, send: Send) -> None:
            callers.recognise(scope)
            await application(scope, receive, send)

        worker.asgi = recognising
        for _ in range(3):  # of one address, which may have two
            reader, writer = await connect()
            writer.write(
                GET.replace(b"GET /", b"GET /internal/").replace(
                    b"Host", b"Authorization: Bearer a\r\nHost"
                )
            )
            assert await reader.readline() == b"HTTP/1.1 204 No Content\r\n"
            assert worker.connections.seconds_to_wait("127.0.0.1") == 0.0
        assert len(worker.connections) == 3

    serve(story, most=2)


def test_behind_a_proxy_that_is_believed_all_connections_may_come_from_one_address() -> None:
    here = gunicorn_worker.connections(2, proxies=1)
    assert all(here.enter("proxy", Known()) for _ in range(2))
    assert not here.enter("proxy", Known())


def test_a_connection_without_a_whole_request_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gunicorn_worker, "FIRST_REQUEST_SECONDS", 0.05)

    async def story(connect: Connect, worker: Worker) -> None:
        reader, writer = await connect()
        writer.write(GET[:20])
        assert await reader.read() == b""

    serve(story, most=2)


def test_a_client_that_does_not_read_to_the_end_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gunicorn_worker, "LAST_WORDS_SECONDS", 0.05)

    async def long(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        with suppress(TimeoutError):
            async with asyncio.timeout(0.05):  # more than any socket holds
                await send({"type": "http.response.body", "body": bytes(2**25)})

    async def story(connect: Connect, worker: Worker) -> None:
        worker.asgi = long
        _, writer = await connect()
        writer.transport.pause_reading()
        writer.write(GET)
        while not worker.nr:  # noqa: ASYNC110 - gunicorn tells of no event
            await asyncio.sleep(0.01)
        while worker.nr_conns:  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    serve(story, most=2)


class Silent:
    """A connection that asks for nothing."""

    is_idle = True

    def push_out(self) -> None:
        """It has left already."""


def test_where_places_change_hands_newcomers_of_that_address_come_in_one_by_one() -> None:
    now = 0.0
    here = ClientConnections(10, most_of_one=2, clock=lambda: now)
    assert here.seconds_to_wait("loud") == 0.0
    for _ in range(2):
        assert here.enter("loud", Silent())
    waits = [here.seconds_to_wait("loud") for _ in range(4)]
    assert waits == pytest.approx([number / CHANGES_PER_SECOND for number in range(4)])
    assert here.seconds_to_wait("quiet") == 0.0
    now = 1.0
    assert here.seconds_to_wait("loud") == 0.0


def test_no_more_newcomers_wait_than_can_come_in_in_time() -> None:
    here = ClientConnections(10, most_of_one=1, clock=lambda: 0.0)
    assert here.enter("loud", Silent())
    waits = [here.seconds_to_wait("loud") for _ in range(1000)]
    assert waits.count(None) == pytest.approx(
        1000 - LONGEST_WAIT_SECONDS * CHANGES_PER_SECOND, abs=2
    )


def test_what_a_newcomer_sends_while_it_waits_is_answered_when_it_is_in() -> None:
    async def story(connect: Connect, worker: Worker) -> None:
        silent = [await connect() for _ in range(2)]
        while len(worker.connections) < len(silent):  # noqa: ASYNC110 - gunicorn tells of no event
            await asyncio.sleep(0.01)
        for _ in range(5):
            assert await asked(*await connect()) == b"HTTP/1.1 204 No Content\r\n"

    serve(story, most=2)
