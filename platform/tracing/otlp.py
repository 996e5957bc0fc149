"""How do spans get to a collector? By OTLP over HTTP, in batches, from a thread of its own.

What is sampled, where spans go and how many wait at most is what OpenTelemetry's own variables say,
which its library reads. What does not fit is dropped, counted, and told in the log now and then.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import requests
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.environment_variables import OTEL_BSP_MAX_QUEUE_SIZE
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    SpanExporter,
    SpanExportResult,
)
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from tracing.spans import SpanPlace, TraceSpan

USUAL_NAME: Final = "concertina"
MOST_WAITING: Final = 2048  # spans; as OpenTelemetry has it
NOTICE_SECONDS: Final = 600.0  # between two words in the log about what was dropped
ENDING_SECONDS: Final = 2.0  # for what is left; `control` has eight seconds for all its ends
_LONGEST_ANSWER: Final = 64 << 10  # bytes that are read; nothing is done with them
_SCOPE: Final = InstrumentationScope(USUAL_NAME)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_log = logging.getLogger(__name__)


class SpanCounts:
    """How many spans wait in this process, and how many were never taken by a collector."""

    def __init__(self, most_waiting: int) -> None:
        self.most_waiting = most_waiting
        self.waiting = self.dropped = self._told = 0
        self.reason = ""  # of the last that did not arrive
        self._told_at = -NOTICE_SECONDS
        self._lock = threading.Lock()

    def admit(self, spans: int) -> int:
        """Return how many of so many have room; the others are dropped."""
        with self._lock:
            room = max(min(spans, self.most_waiting - self.waiting), 0)
            self.waiting += room
        self._drop(spans - room)
        return room

    def sent(self, spans: int, *, arrived: bool) -> None:
        """So many wait no longer; unless they arrived, nobody will ever see them."""
        with self._lock:
            self.waiting -= spans
        self._drop(0 if arrived else spans)

    def begin_anew(self) -> None:
        """Count from zero in a child: what waits is its parent's, and so may be the lock."""
        self._lock = threading.Lock()
        self.waiting = self.dropped = self._told = 0

    def _drop(self, spans: int) -> None:
        with self._lock:
            self.dropped += spans
            fresh, now = self.dropped - self._told, time.monotonic()
            if not fresh or now - self._told_at < NOTICE_SECONDS:
                return
            self._told, self._told_at = self.dropped, now
        _log.warning(
            "Spans were dropped, because the collector of traces did not take them: %d since"
            " this was told last.%s",
            fresh,
            f" {self.reason}" if self.reason else "",
            extra={"action": "trace", "dropped": self.dropped},
        )


class _CollectorSession(requests.Session):
    """How the exporter asks: it takes a redirect for a success, and reads whatever is answered."""

    def __init__(self) -> None:
        super().__init__()
        self.reason = ""  # why it was not taken last; empty: it was

    def request(self, *given: Any, **named: Any) -> requests.Response:
        """Raises: RequestException, also for an answer that leads elsewhere."""
        try:
            answer = super().request(*given, **named | {"stream": True})
            _end(answer)
        except requests.RequestException as problem:
            self.reason = f"It cannot be reached: {type(problem).__name__}."
            raise
        self.reason = "" if answer.ok else f"It answers {answer.status_code}."
        if 300 <= answer.status_code < 400:  # noqa: PLR2004 - those that lead elsewhere
            self.reason = f"It answers {answer.status_code}: its address is another."
            raise requests.TooManyRedirects(self.reason)
        return answer


def _end(answer: requests.Response) -> None:
    """Read it to its end if that is near, so that the connection can go on; else close that."""
    length = answer.headers.get("Content-Length", "")
    if length.isascii() and length.isdigit() and int(length) <= _LONGEST_ANSWER:
        _ = answer.content
    else:
        answer.close()


class _CountedExporter(SpanExporter):
    """Exports, and counts what became of it."""

    def __init__(self, counts: SpanCounts) -> None:
        self._counts, self._session = counts, _CollectorSession()
        self._exporter = OTLPSpanExporter(session=self._session)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = SpanExportResult.FAILURE
        try:
            result = self._exporter.export(spans)
        finally:
            self._counts.reason = self._session.reason
            arrived = result is SpanExportResult.SUCCESS
            self._counts.sent(len(spans), arrived=arrived)
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()  # type: ignore[no-untyped-call]  # theirs is untyped


class OtlpSender:
    """Sends spans of the process that made it; a child of that process makes its own."""

    def __init__(self) -> None:
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)  # we count, and say so rarely
        for name in [one for one in os.environ if one.startswith("OTEL_") and not os.environ[one]]:
            del os.environ[name]  # set to nothing is not set
        provider = TracerProvider(resource=_resource(), shutdown_on_exit=False)
        self._sampler, self._resource = provider.sampler, provider.resource
        self.counts = SpanCounts(int(os.environ.get(OTEL_BSP_MAX_QUEUE_SIZE, MOST_WAITING)))
        self._processor = BatchSpanProcessor(_CountedExporter(self.counts))
        os.register_at_fork(after_in_child=self.counts.begin_anew)

    def begin(self, name: str, parent: SpanPlace | None) -> SpanPlace | None:
        """See the port."""
        trace_id = parent.trace_id if parent else secrets.token_hex(16)
        before = set_span_in_context(NonRecordingSpan(_context(parent))) if parent else None
        decided = self._sampler.should_sample(before, int(trace_id, 16), name)
        if decided.decision is not Decision.RECORD_AND_SAMPLE:
            return None
        return SpanPlace(trace_id=trace_id, span_id=secrets.token_hex(8))

    def send(self, spans: Sequence[TraceSpan]) -> None:
        """See the port."""
        for span in spans[: self.counts.admit(len(spans))]:
            self._processor.on_end(self._readable(span))

    def end(self) -> None:
        """See the port."""
        self._processor._batch_processor.shutdown(  # noqa: SLF001 - its own `shutdown` takes no time
            timeout_millis=int(ENDING_SECONDS * 1000)
        )

    def _readable(self, span: TraceSpan) -> ReadableSpan:
        return ReadableSpan(
            name=span.name,
            context=_context(span.place),
            parent=_context(span.parent) if span.parent else None,
            resource=self._resource,
            attributes=dict(span.attributes),
            links=[Link(_context(one)) for one in span.links],
            kind=SpanKind.SERVER if span.answers_a_request else SpanKind.INTERNAL,
            status=Status(StatusCode.ERROR, span.error) if span.error else Status(),
            start_time=_nanoseconds(span.began_at),
            end_time=_nanoseconds(max(span.began_at, span.ended_at)),
            instrumentation_scope=_SCOPE,
        )


def _resource() -> Resource:
    """Say which process it is, as far as the environment does not."""
    named = Resource.create({})
    ours: dict[str, str | int] = {"host.name": socket.gethostname(), "process.pid": os.getpid()}
    if str(named.attributes[SERVICE_NAME]).startswith("unknown_service"):
        ours[SERVICE_NAME] = USUAL_NAME
    return Resource({**named.attributes, **ours})


def _context(place: SpanPlace) -> SpanContext:
    return SpanContext(
        trace_id=int(place.trace_id, 16),
        span_id=int(place.span_id, 16),
        is_remote=True,
        trace_flags=TraceFlags(TraceFlags.SAMPLED if place.is_sampled else TraceFlags.DEFAULT),
    )


def _nanoseconds(moment: datetime) -> int:
    """Exactly: floats are too coarse for them."""
    since = moment - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000_000 + since.microseconds * 1000
