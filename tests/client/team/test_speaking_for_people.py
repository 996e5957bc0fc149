"""Does whoever signs in wait for their turn where passwords are looked at a few at a time?"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from concertina import AsyncClient, Client
from tests.client.manual_clock import ManualClock

asked = list[tuple[str, str]]()
keys = list[tuple[str, str]]()  # of requests that read: what they showed
BUSY = {"code": "too_many_requests", "message": "Try again in a moment."}


class BusyService(BaseHTTPRequestHandler):
    """Refuses the first to sign in, for its processors are short."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self._note()
        self.rfile.read(int(self.headers["Content-Length"]))
        if len(asked) == 1:
            self._answer(429, BUSY, {"Retry-After": "2"})
        else:
            self._answer(200, {"username": "ada"}, {"Set-Cookie": "csrftoken=proof; Path=/"})

    def do_GET(self) -> None:
        self._note()
        shown = self.headers["Authorization"] or self.headers["Cookie"] or ""
        keys.append((self.path.rpartition("/")[2], shown))
        self._answer(200, {"items": []}, {})

    def do_DELETE(self) -> None:
        self._note()
        self._answer(200, {}, {})

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as there
        """Say nothing."""

    def _note(self) -> None:
        asked.append((self.command, self.path))

    def _answer(self, status: int, document: object, headers: dict[str, str]) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def address() -> Iterator[str]:
    asked.clear()
    keys.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), BusyService) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_whoever_is_told_to_come_again_signs_in_after_that(address: str) -> None:
    clock = ManualClock()
    with (
        Client(address, "ct_x", clock=clock) as client,
        client.as_person("ada", "a long password") as speaking,
    ):
        assert speaking.pools() == []
    verbs = [verb for verb, _ in asked]
    assert verbs == ["POST", "POST", "GET", "DELETE"]
    assert clock.naps == [2.0]


TOLD = [("teams", "Bearer ct_x"), ("pools", "csrftoken=proof"), ("teams", "Bearer ct_x")]


def test_other_tasks_speak_for_the_token_as_before(address: str) -> None:
    async def no_time(_seconds: float) -> None:
        """Go on at once."""

    async def ask() -> None:
        is_inside, others_asked = asyncio.Event(), asyncio.Event()

        async def speak() -> None:
            async with client.as_person("ada", "a long password"):
                is_inside.set()
                await others_asked.wait()
                await client.api.list_pools()
            await client.api.list_teams()

        async def another() -> None:
            await is_inside.wait()
            await client.api.list_teams()
            others_asked.set()

        async with AsyncClient(address, "ct_x", sleep=no_time) as client:
            await asyncio.gather(speak(), another())

    asyncio.run(ask())
    assert keys == TOLD


def test_other_threads_speak_for_the_token_as_before(address: str) -> None:
    with Client(address, "ct_x", clock=ManualClock()) as client:
        with client.as_person("ada", "a long password"):
            another = threading.Thread(target=client.teams)
            another.start()
            another.join()
            client.pools()
        client.teams()
    assert keys == TOLD
