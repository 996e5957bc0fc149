"""How bytes become lines: cut, rewritten and broken ones."""

from __future__ import annotations

import itertools

from cluster.logs.log_lines import (
    MOST_BYTES_PER_LINE,
    REWRITTEN_EVERY_SECONDS,
    LineSplitter,
    last_state,
    readable,
)
from hypothesis import given
from hypothesis import strategies as st


def split(*reads: bytes) -> list[bytes]:
    splitter = LineSplitter()
    return [*(line for data in reads for line in splitter.feed(data, now=0.0)), *splitter.flush()]


def test_of_a_line_that_is_rewritten_the_last_state_is_kept() -> None:
    bar = b"".join(b"\repoch 1: %3d %%" % percent for percent in range(101))
    assert split(b"start\n" + bar + b"\nend\n") == [b"start", b"epoch 1: 100 %", b"end"]


def test_a_line_end_of_windows_is_no_rewriting() -> None:
    assert split(b"a\r\nb\r\r\nc\r") == [b"a", b"b", b"c"]
    assert split(b"a\r", b"\nb") == [b"a", b"b"]


def test_a_long_progress_bar_takes_no_memory_and_few_lines() -> None:
    splitter = LineSplitter()
    lines: list[bytes] = []
    for tick in range(6_000):
        lines += splitter.feed(b"\r%6d %s" % (tick, b"#" * 100), now=tick / 10)
        assert splitter.held_bytes < 300
    assert len(lines) <= 600 / REWRITTEN_EVERY_SECONDS
    assert lines[0].startswith(b"   100 #")
    assert splitter.feed(b"\n", now=600.0) == [b"  5999 " + b"#" * 100]


@given(
    text=st.lists(st.sampled_from([b"a", b"bc", b"\r", b"\n", b"\xff", b"y" * 9000])).map(b"".join),
    cuts=st.lists(st.integers(0, 200), max_size=8),
)
def test_where_reads_split_a_line_makes_no_difference(text: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    reads = [text[start:end] for start, end in itertools.pairwise(places)]
    expected = [last_state(line) for line in text.split(b"\n")]
    expected = expected if text.split(b"\n")[-1].rstrip(b"\r") else expected[:-1]
    if all(len(line) <= MOST_BYTES_PER_LINE for line in text.split(b"\n")):
        assert split(*reads) == expected
    assert all(len(line) <= MOST_BYTES_PER_LINE for line in split(*reads))


@given(st.binary(max_size=200))
def test_whatever_is_written_a_line_of_the_file_is_one_line(data: bytes) -> None:
    for line in split(data):
        assert len(readable(line).splitlines()) <= 1
        readable(line).encode()
