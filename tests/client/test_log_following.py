from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from concertina.log_following import Deduplicator, ServerEvent, server_events

if TYPE_CHECKING:
    from concertina.documents import LogLine


def line(at: int, text: str = "x", worker: str = "w") -> LogLine:
    return {"at": f"2026-11-21T07:33:{at:02}.000000Z", "worker": worker, "stream": "", "text": text}


def read(streams: list[list[LogLine]]) -> list[LogLine]:
    seen, fresh = Deduplicator(), []
    for stream in streams:
        seen.begin_stream()
        fresh += [line for line in stream if seen.is_new(line)]
    return fresh


@given(
    times=st.lists(st.integers(0, 5), max_size=12).map(sorted),
    workers=st.lists(st.sampled_from("ab"), min_size=12, max_size=12),
    cuts=st.lists(st.integers(0, 12), max_size=4),
)
def test_each_line_comes_once_however_often_the_stream_breaks(
    times: list[int], workers: list[str], cuts: list[int]
) -> None:
    """Streams break anywhere, start from the first line again, and the last one is whole."""
    log = [line(at, text=str(n), worker=workers[n]) for n, at in enumerate(times)]
    streams = [*(log[:cut] for cut in cuts), log]
    assert sorted(map(str, read(streams))) == sorted(map(str, log))


def test_lines_that_bear_the_same_time_and_text_are_all_told() -> None:
    log = [line(1), line(1), line(1)]
    assert read([log[:2], log]) == log


def test_a_stream_may_begin_in_the_middle() -> None:
    log = [line(second) for second in range(9)]
    assert read([log[:6], log[3:]]) == log


def test_a_clock_that_was_set_back_loses_no_line() -> None:
    log = [line(9), line(8), line(8), line(9)]
    assert read([log]) == log


def test_a_worker_that_starts_late_is_new_whatever_the_time() -> None:
    late = line(3, worker="late")
    assert read([[line(5)], [line(5), late]]) == [line(5), late]


def test_an_event_stream_is_split_into_its_messages() -> None:
    stream = [": keep-alive", "", "data: {", "data: }", "", "event: end", "data:", ""]
    assert list(server_events(stream)) == [
        ServerEvent(name="message", data="{\n}"),
        ServerEvent(name="end", data=""),
    ]


def test_a_message_that_was_cut_off_is_dropped() -> None:
    assert list(server_events(["data: 1", "", "data: 2"])) == [
        ServerEvent(name="message", data="1")
    ]
