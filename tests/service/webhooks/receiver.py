"""A real receiver of webhooks, which takes what it is sent, or does not."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from storage.data.destinations import Destination, Reach
from webhooks.delivery.calls import WebhookReach

HERE = (Destination.parse("127.0.0.1"),)


@dataclass(frozen=True, slots=True)
class Received:
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def document(self) -> Any:
        return json.loads(self.body)


@dataclass(slots=True)
class Receiver:
    """What came, and what is answered: by the first part of the address."""

    url: str
    received: list[Received] = field(default_factory=list)
    is_over: threading.Event = field(default_factory=threading.Event)
    answers: dict[str, int] = field(default_factory=dict)  # instead of 204, by path
    raw_answers: dict[str, bytes] = field(default_factory=dict)  # which may be no HTTP at all

    def at(self, path: str) -> Sequence[Received]:
        return [one for one in self.received if one.path == path]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    receiver: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.receiver.received.append(Received(self.path, headers, body))
        if self.path == "/hang":
            self.receiver.is_over.wait(60)
            self.close_connection = True
            return
        if (raw := self.receiver.raw_answers.get(self.path)) is not None:
            self.wfile.write(raw)
            self.close_connection = True
            return
        status = self.receiver.answers.get(self.path, 204)
        self.send_response(status)
        if 300 <= status < 400:
            self.send_header("Location", self.receiver.url + "/elsewhere")
        if self.path == "/endless":
            self._endless()
            return
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _endless(self) -> None:
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.close_connection = True
        try:
            while not self.receiver.is_over.is_set():
                self.wfile.write(b"400\r\n" + b"x" * 1024 + b"\r\n")
        except OSError:
            return

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def receiving() -> Iterator[Receiver]:
    handler = type("Handler", (_Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    receiver = Receiver(f"http://127.0.0.1:{server.server_address[1]}")
    handler.receiver = receiver  # type: ignore[attr-defined]  # as declared above
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield receiver
    finally:
        receiver.is_over.set()
        server.shutdown()
        thread.join()
        server.server_close()


def here() -> WebhookReach:
    """Rules of an installation that lets webhooks be called on this machine."""
    return WebhookReach(encrypted=Reach(listed=HERE), plain=Reach(listed=HERE, is_public=False))


def nowhere() -> WebhookReach:
    """Rules of an installation that lists nothing."""
    return WebhookReach(encrypted=Reach(), plain=Reach(is_public=False))
