"""Does whoever signs in wait for their turn where passwords are looked at a few at a time?"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from concertina import Client
from tests.client.manual_clock import ManualClock

asked = list[tuple[str, str]]()
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
