"""What do both clients make of answers that are none of the service's? Errors of their own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, TypeAlias

import pytest

from concertina import AsyncClient, Client, ConcertinaError, RefusedByService, Unreachable
from concertina.connection.retrying import RetryPolicy
from tests.client.manual_clock import ManualClock

EVENTS = "text/event-stream"
ONCE = RetryPolicy(patience_seconds=0.0)
Ask: TypeAlias = Callable[[str], Any]


class Strange(BaseHTTPRequestHandler):
    """Answers what the test says."""

    status = 200
    kind = "application/json"
    encoding = ""
    body = b""
    posts = 0

    def do_POST(self) -> None:
        """Read it, and say nothing: whether it was done nobody knows."""
        type(self).posts += 1

    def do_GET(self) -> None:
        self.send_response(self.status)
        self.send_header("Content-Type", self.kind)
        self.send_header("Content-Length", str(len(self.body)))
        if self.encoding:
            self.send_header("Content-Encoding", self.encoding)
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def service() -> Iterator[tuple[str, type[Strange]]]:
    handler = type("StrangeOne", (Strange,), {})
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", handler
        server.shutdown()
        thread.join()


def read_blocking(url: str) -> Any:
    with Client(url, "ct_x", policy=ONCE) as client:
        return client.api.list_notices()


def read_awaited(url: str) -> Any:
    async def ask() -> Any:
        async with AsyncClient(url, "ct_x", policy=ONCE) as client:
            return await client.api.list_notices()

    return asyncio.run(ask())


def events_blocking(url: str) -> list[str]:
    with Client(url, "ct_x", policy=ONCE) as client, client.api.follow_events() as events:
        return [event.data for event in events]


def events_awaited(url: str) -> list[str]:
    async def ask() -> list[str]:
        async with (
            AsyncClient(url, "ct_x", policy=ONCE) as client,
            client.api.follow_events() as events,
        ):
            return [event.data async for event in events]

    return asyncio.run(ask())


def logs_blocking(url: str) -> list[Any]:
    with Client(url, "ct_x", policy=ONCE) as client:
        return list(client.follow_logs("job"))


def logs_awaited(url: str) -> list[Any]:
    async def ask() -> list[Any]:
        async with AsyncClient(url, "ct_x", policy=ONCE) as client:
            return [line async for line in client.follow_logs("job")]

    return asyncio.run(ask())


@pytest.mark.parametrize("read", [read_blocking, read_awaited])
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ((200, "text/html", "", b"<html>Log in</html>"), (Unreachable, False)),
        ((200, "application/json", "gzip", b"no gzip"), (Unreachable, True)),
        ((502, "text/html", "", b"<html>Bad Gateway</html>"), (Unreachable, True)),
        ((521, "text/html", "", b"<html>Down</html>"), (Unreachable, True)),
        (
            (499, "application/json", "", b'{"code": "odd", "message": "x"}'),
            (RefusedByService, None),
        ),
    ],
    ids=["page to log in", "broken compression", "proxy", "another proxy", "unknown status"],
)
def test_a_strange_answer_is_an_error_of_ours(
    read: Ask,
    service: tuple[str, type[Strange]],
    answer: tuple[int, str, str, bytes],
    expected: tuple[type[ConcertinaError], bool | None],
) -> None:
    url, handler = service
    handler.status, handler.kind, handler.encoding, handler.body = answer
    with pytest.raises(ConcertinaError) as raised:
        read(url)
    assert (raised.type, getattr(raised.value, "is_temporary", None)) == expected


@pytest.mark.parametrize("read", [events_blocking, events_awaited])
def test_a_stream_is_split_where_its_format_says_so(
    read: Ask, service: tuple[str, type[Strange]]
) -> None:
    url, handler = service
    text = "one\x85two"  # which Python calls two lines
    handler.kind, handler.body = EVENTS, f"event: event\ndata: {text}\n\n".encode()
    assert read(url) == [text]


@pytest.mark.parametrize("read", [events_blocking, events_awaited, logs_blocking, logs_awaited])
def test_a_page_in_place_of_a_stream_is_told(read: Ask, service: tuple[str, type[Strange]]) -> None:
    url, handler = service
    handler.kind, handler.body = "text/html", b"<html>Log in</html>"
    with pytest.raises(Unreachable, match="does not answer like Concertina"):
        read(url)


@pytest.mark.parametrize("read", [logs_blocking, logs_awaited])
def test_a_log_that_something_changes_on_its_way_is_told(
    read: Ask, service: tuple[str, type[Strange]]
) -> None:
    url, handler = service
    handler.kind, handler.body = EVENTS, b"id: 1\ndata: <html>\n\n"
    with pytest.raises(Unreachable, match="not Concertina's"):
        read(url)


def test_what_goes_wrong_in_the_callers_own_block_is_the_callers(
    service: tuple[str, type[Strange]],
) -> None:
    url, handler = service
    handler.kind = EVENTS
    own = httpx_error()
    with pytest.raises(type(own), match="another service"):  # noqa: SIM117 - what is tried
        with Client(url, "ct_x", policy=ONCE) as client, client.api.follow_events():
            raise own

    async def follow() -> None:
        async with AsyncClient(url, "ct_x", policy=ONCE) as client, client.api.follow_events():
            raise own

    with pytest.raises(type(own), match="another service"):
        asyncio.run(follow())


@pytest.mark.parametrize(
    ("ask", "is_once"),
    [
        (lambda client: client.submit({}), False),
        (lambda client: client.simulations.request({}), True),
        (lambda client: client.webhooks.replay("7", "8", team="vision"), True),
        (lambda client: client.api.request_simulation({}), True),
    ],
    ids=["job with its key", "simulation", "delivery", "simulation of the api"],
)
def test_what_makes_something_anew_is_sent_once(
    service: tuple[str, type[Strange]], ask: Callable[[Client], object], *, is_once: bool
) -> None:
    url, handler = service
    handler.body = b'{"items": [{"id": 7, "name": "7", "team": "vision"}]}'
    clock = ManualClock()
    with Client(url, "ct_x", clock=clock) as client, pytest.raises(Unreachable):
        ask(client)
    assert (handler.posts == 1) is is_once


def httpx_error() -> Exception:
    """An error of the same library, of something else that the program asks."""
    import httpx  # noqa: PLC0415 - after the client, which loads it without its command line

    return httpx.ConnectError("another service")
