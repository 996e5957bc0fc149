"""The service as a job's coordinator sees it: a small HTTP server that speaks the sync protocol."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from concertina_worker.protocol import (
    Desired,
    DesiredAction,
    GenerationReport,
    MetricReport,
    SyncReport,
)


class ServiceTwin:
    """Keeps what is desired and everything that was reported."""

    def __init__(self, token: str) -> None:
        self.token = token
        self.desired: Desired = {
            "action": DesiredAction.RUN,
            "revision": 0,
            "attempt": 0,
            "workers": [],
            "global_batch_size": 0,
            "next_generation": 1,
            "report_after_seconds": 0.1,  # so that no test waits for it
        }
        self.is_down = False
        self.term = 0  # coordinators of earlier ones are turned away
        self.newest: SyncReport | None = None
        self.generations: list[GenerationReport] = []
        self.metrics: list[MetricReport] = []
        self.changed = threading.Condition()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def want(self, workers: list[str], batch: int, *, new_attempt: bool = False) -> None:
        with self.changed:
            self.desired = {
                **self.desired,
                "action": DesiredAction.RUN,
                "revision": self.desired["revision"] + 1,
                "attempt": self.desired["attempt"] + new_attempt,
                "workers": workers,
                "global_batch_size": batch,
            }

    def want_stop(self) -> None:
        with self.changed:
            self.desired = {**self.desired, "action": DesiredAction.STOP}

    def take(self, report: SyncReport) -> Desired | None:
        """None: the service is down."""
        with self.changed:
            if self.is_down:
                return None
            self.newest = report
            known = {generation["number"] for generation in self.generations}
            new = [g for g in report["generations"] if g["number"] not in known]
            self.generations += new
            self.metrics += report["metrics"]
            numbers = [g["number"] for g in self.generations]
            self.desired["next_generation"] = max([0, *numbers]) + 1
            self.changed.notify_all()
            return self.desired

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        twin = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers["Authorization"] != f"Bearer {twin.token}":
                    self.send_error(401)
                elif json.loads(body).get("term", 0) < twin.term:
                    self.send_error(409)
                elif (desired := twin.take(json.loads(body))) is None:
                    self.send_error(503)
                else:
                    self._answer(json.dumps(desired).encode())

            def _answer(self, content: bytes) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                """Tests read the reports, not an access log."""

        return Handler
