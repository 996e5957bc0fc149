"""Is read what W3C Trace Context says, and nothing else? And what switches tracing on?"""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tracing.spans import LONGEST_HEADER, SpanPlace, place_of
from tracing.terms import TracingMisconfigured, is_switched_on

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


def hexadecimal(digits: int) -> st.SearchStrategy[str]:
    return st.integers(1, 16**digits - 1).map(lambda number: f"{number:0{digits}x}")


@given(trace_id=hexadecimal(32), span_id=hexadecimal(16), is_sampled=st.booleans())
def test_a_place_is_read_as_it_was_written(trace_id: str, span_id: str, is_sampled: bool) -> None:  # noqa: FBT001
    place = SpanPlace(trace_id=trace_id, span_id=span_id, is_sampled=is_sampled)
    assert len(place.header) == LONGEST_HEADER
    assert place_of(place.header) == place


@given(st.text(max_size=200))
def test_whatever_is_no_header_counts_as_none(text: str) -> None:
    assert place_of(text) is None


@pytest.mark.parametrize(
    ("header", "is_valid"),
    [
        (f"00-{TRACE}-{SPAN}-01", True),
        (f"00-{TRACE}-{SPAN}-00", True),
        (f"01-{TRACE}-{SPAN}-01-what-later-versions-say", True),
        (f"00-{TRACE}-{SPAN}-01-more", False),
        (f"ff-{TRACE}-{SPAN}-01", False),
        (f"00-{'0' * 32}-{SPAN}-01", False),
        (f"00-{TRACE}-{'0' * 16}-01", False),
        (f"00-{TRACE.upper()}-{SPAN}-01", False),
        (f"01-{TRACE}-{SPAN}-01-{'x' * 600}", False),
        ("", False),
        (None, False),
    ],
)
def test_a_header_is_valid_as_the_standard_says(header: str | None, *, is_valid: bool) -> None:
    assert (place_of(header) is not None) is is_valid


def test_every_process_finds_the_same_place_by_its_names() -> None:
    place = SpanPlace(trace_id=TRACE, span_id=SPAN)
    assert place.beside("job", "starting", 1) == place.beside("job", "starting", 1)
    assert place.beside("job", "starting", 1) != place.beside("job", "starting", 2)
    assert place_of(place.beside("job").header) == place.beside("job")


@pytest.mark.parametrize(
    ("environ", "is_on"),
    [
        ({}, False),
        ({ENDPOINT: ""}, False),
        ({ENDPOINT: "http://collector:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://c.example.com/v1/traces"}, True),
        ({ENDPOINT: "http://collector:4318", "OTEL_SDK_DISABLED": "true"}, False),
        ({ENDPOINT: "http://collector:4318", "OTEL_TRACES_EXPORTER": "none"}, False),
        ({ENDPOINT: "http://c:4318", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, True),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, False),
    ],
)
def test_an_endpoint_switches_it_on(environ: dict[str, str], *, is_on: bool) -> None:
    assert is_switched_on(environ) is is_on


def test_what_cannot_work_is_refused_with_what_to_do() -> None:
    with pytest.raises(TracingMisconfigured, match=r"Use the collector's.*http://collector:4318"):
        is_switched_on({ENDPOINT: "collector:4318"})
    with pytest.raises(TracingMisconfigured, match="'grpc': spans are sent by http/protobuf"):
        is_switched_on({ENDPOINT: "http://c:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"})


def test_a_password_in_the_address_is_not_repeated() -> None:
    with pytest.raises(TracingMisconfigured) as refused:
        is_switched_on({ENDPOINT: "ada:secret@collector"})
    assert "secret" not in str(refused.value)


def test_nothing_of_opentelemetry_is_loaded_while_it_is_off() -> None:
    script = (
        "import sys; from tracing import sending; from jobs.job_mode import JobMode;"
        " assert sending.begin('tick') is None; sending.send(); sending.end();"
        " print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert ended.stdout == b"[]\n"
