"""A service that gives one answer to every report."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def answering(
    status: int,
    body: object,
    tokens: list[str] | None = None,
    *,
    keeps_for: int = 0,
    again_after: str | None = None,
) -> Iterator[str]:
    """Its address; `tokens` gets those that reports came with. Text is sent as it is.

    A connection is kept for so many reports, and then closed without a word.
    """
    sent = (body if isinstance(body, str) else json.dumps(body)).encode()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1" if keeps_for else "HTTP/1.0"
        had = 0

        def do_POST(self) -> None:
            self.had += 1
            self.rfile.read(int(self.headers["Content-Length"]))
            if tokens is not None:
                tokens.append(self.headers["Authorization"].removeprefix("Bearer "))
            self.send_response(status)
            self.send_header("Content-Length", str(len(sent)))
            if again_after is not None:
                self.send_header("Retry-After", again_after)
            self.end_headers()
            self.wfile.write(sent)
            self.close_connection = self.had >= keeps_for

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
