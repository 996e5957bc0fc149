"""A collector: takes spans by OTLP over HTTP, as any real one does, and keeps them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from tracing import sending
from tracing.otlp import OtlpSender

from tests.polling import pause

PATIENCE_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedSpan:
    """A span as it arrived."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    began: int  # nanoseconds since 1970
    ended: int
    attributes: dict[str, Any]
    linked: tuple[str, ...]  # ids of spans
    error: str
    service: str
    process: int

    @property
    def header(self) -> str:
        return f"00-{self.trace_id}-{self.span_id}-01"


@dataclass
class OtlpReceiver:
    """What has arrived so far, and where it is to be sent."""

    url: str
    answer: int = 200
    spans: list[ReceivedSpan] = field(default_factory=list)
    paths: set[str] = field(default_factory=set)

    def take(self, body: bytes) -> None:
        request = ExportTraceServiceRequest.FromString(body)
        for of_resource in request.resource_spans:
            told = _values(of_resource.resource.attributes)
            for scope in of_resource.scope_spans:
                self.spans += (_read(one, told) for one in scope.spans)

    def of_trace(self, trace_id: str) -> list[ReceivedSpan]:
        """Its spans, as they began."""
        found = (one for one in list(self.spans) if one.trace_id == trace_id)
        return sorted(found, key=lambda one: (one.began, one.ended))

    def wait_for(self, trace_id: str, *names: str) -> list[ReceivedSpan]:
        """Wait until the trace has spans of these names."""
        began = time.monotonic()
        while set(names) - {one.name for one in self.of_trace(trace_id)}:
            there = [one.name for one in self.of_trace(trace_id)]
            assert time.monotonic() - began < PATIENCE_SECONDS, there
            pause(began)
        return self.of_trace(trace_id)

    def wait_for_one(self, name: str) -> ReceivedSpan:
        """Wait for a span of this name, in whichever trace."""
        began = time.monotonic()
        while not (found := [one for one in list(self.spans) if one.name == name]):
            assert time.monotonic() - began < PATIENCE_SECONDS, [one.name for one in self.spans]
            pause(began)
        return found[0]


@contextmanager
def receiving() -> Iterator[OtlpReceiver]:
    """Receive until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.paths.add(self.path)
            if receiver.answer == 200:
                receiver.take(body)
            self.send_response(receiver.answer)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver = OtlpReceiver(url=f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def traced(monkeypatch: pytest.MonkeyPatch) -> Iterator[OtlpReceiver]:
    """Have spans of this process sent to a receiver, until the end of the block."""
    with receiving() as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "20")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "")  # as Compose hands on what is not set
        sending.switch_on(OtlpSender)
        yield receiver
        sending.switch_on(None)


def _read(span: Span, told: dict[str, Any]) -> ReceivedSpan:
    return ReceivedSpan(
        name=span.name,
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex(),
        began=span.start_time_unix_nano,
        ended=span.end_time_unix_nano,
        attributes=_values(span.attributes),
        linked=tuple(one.span_id.hex() for one in span.links),
        error=span.status.message,
        service=told["service.name"],
        process=told["process.pid"],
    )


def _values(attributes: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in attributes}
