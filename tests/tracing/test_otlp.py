"""Does what is handed over arrive, and does nobody wait for a collector that does not answer?"""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tracing import sending
from tracing.otlp import OtlpSender, SpanCounts
from tracing.spans import SpanPlace, TraceSpan, place_of

from tests.tracing.receiver import OtlpReceiver, traced

NOON = datetime(2026, 11, 29, 12, 0, 0, 123_457, tzinfo=UTC)
CALLER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


@pytest.fixture(autouse=True)
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[OtlpReceiver]:
    with traced(monkeypatch) as ready:
        yield ready


def span(place: SpanPlace, name: str = "queued", **more: object) -> TraceSpan:
    ended_at = NOON + timedelta(seconds=1.5)
    known: Any = {"parent": None, "began_at": NOON, "ended_at": ended_at, **more}
    return TraceSpan(name=name, place=place, **known)


def test_a_span_arrives_as_it_was_handed_over(receiver: OtlpReceiver) -> None:
    caller = place_of(CALLER)
    assert caller is not None
    place, tick = sending.begin("submit", caller), sending.begin("tick")
    assert place is not None
    assert tick is not None
    assert (place.trace_id, tick.trace_id) != (tick.trace_id, caller.trace_id)
    attributes = {"concertina.job": "j1", "concertina.jobs": 3, "concertina.is_repeated": False}
    sending.send(span(place, parent=caller, attributes=attributes, links=(tick,), error="quota"))
    [arrived] = receiver.wait_for(caller.trace_id, "queued")
    assert receiver.paths == {"/v1/traces"}
    assert (arrived.header, arrived.parent_id) == (place.header, caller.span_id)
    assert arrived.attributes == attributes
    assert (arrived.linked, arrived.error) == ((tick.span_id,), "quota")
    assert arrived.ended - arrived.began == 1_500_000_000
    assert arrived.began == int(NOON.timestamp()) * 10**9 + 123_457_000
    assert arrived.service == "concertina"


def test_the_environment_says_what_the_service_is_called(
    receiver: OtlpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "lab-gpus")
    place = sending.begin("tick")
    assert place is not None
    sending.send(span(place))
    assert receiver.wait_for(place.trace_id, "queued")[0].service == "lab-gpus"


def test_a_caller_who_is_not_sampled_is_not_traced_and_neither_is_what_the_sampler_leaves_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert sending.begin("submit", place_of(CALLER[:-2] + "00")) is None
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_always_off")
    sending.switch_on(OtlpSender)
    assert sending.begin("tick") is None
    assert sending.begin("submit", place_of(CALLER)) is not None


def test_what_has_no_room_is_dropped_counted_and_told_once(
    receiver: OtlpReceiver, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "100")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "100")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "3600000")
    sender = OtlpSender()
    place = sender.begin("tick", None)
    assert place is not None
    caplog.set_level(logging.WARNING, logger="tracing")
    sender.send([span(place.beside(number)) for number in range(99)])
    assert (sender.counts.waiting, sender.counts.dropped) == (99, 0)
    sender.send([span(place.beside(number)) for number in range(99, 198)])
    assert sender.counts.dropped == 98
    sender.end()
    assert len(receiver.of_trace(place.trace_id)) == 100
    assert len([one for one in caplog.records if "Spans were dropped" in one.message]) == 1


def test_counts_are_told_again_only_after_a_while(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, logger="tracing")
    counts = SpanCounts(10)
    assert [counts.admit(7), counts.admit(7), counts.admit(7)] == [7, 3, 0]
    counts.sent(10, arrived=False)
    assert (counts.waiting, counts.dropped) == (0, 21)
    [told] = caplog.records
    assert told.getMessage() == (
        "Spans were dropped, because the collector of traces did not take them: 4 since this was"
        " told last."
    )


def test_a_collector_that_is_away_or_refuses_keeps_nobody_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections, and never answers
        monkeypatch.setenv(
            "OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}"
        )
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
        sender = OtlpSender()
        place = sender.begin("tick", None)
        assert place is not None
        sender.send([span(place)] * 3)
        assert sender.counts.waiting == 3  # nobody has answered, and we are here
        sender.end()
        assert sender.counts.dropped == 3


def test_a_child_of_the_process_sends_by_itself(receiver: OtlpReceiver) -> None:
    place = sending.begin("tick")
    assert place is not None
    sending.send(span(place, "of the parent"))
    child = os.fork()
    if not child:
        sending.send(span(place.beside("child"), "of the child"))
        sending.end()
        os._exit(0)
    os.waitpid(child, 0)
    found = receiver.wait_for(place.trace_id, "of the parent", "of the child")
    assert sorted(one.process for one in found) == sorted([os.getpid(), child])


def test_a_sender_that_cannot_be_made_fails_nobody(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> OtlpSender:
        raise RuntimeError("no such thing")

    sending.switch_on(broken)
    assert sending.begin("tick") is None
    sending.send(span(SpanPlace(trace_id="1" * 32, span_id="2" * 16)))
    assert [one.message for one in caplog.records] == ["No traces are sent from this process."]


@pytest.mark.parametrize(
    ("answer", "said"),
    [(307, "It answers 307: its address is another."), (401, "It answers 401.")],
)
def test_a_collector_that_leads_elsewhere_or_refuses_is_told_of(
    receiver: OtlpReceiver, caplog: pytest.LogCaptureFixture, answer: int, said: str
) -> None:
    receiver.answer = answer
    sender = OtlpSender()
    place = sender.begin("tick", None)
    assert place is not None
    caplog.set_level(logging.WARNING, logger="tracing")
    sender.send([span(place)])
    sender.end()
    assert sender.counts.dropped == 1
    assert [one.getMessage().rpartition("last. ")[2] for one in caplog.records] == [said]


def test_two_who_are_the_first_at_once_make_one_sender() -> None:
    both, made = threading.Barrier(2), list[OtlpSender]()

    def make() -> OtlpSender:
        made.append(OtlpSender())
        return made[-1]

    def begin(_: int) -> SpanPlace | None:
        both.wait()
        return sending.begin("tick")

    sending.switch_on(make)
    with ThreadPoolExecutor(2) as threads:
        assert None not in list(threads.map(begin, range(2)))
    assert len(made) == 1
