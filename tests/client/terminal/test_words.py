from __future__ import annotations

from datetime import UTC, datetime

import pytest

from concertina import exit_codes, words
from concertina.states import FINAL_STATES, LIVE_STATES
from concertina.views.jobs import STATE_STYLES

DURATIONS = {
    0: "0.00 s",
    0.42: "0.42 s",
    9.52: "9.5 s",
    42.4: "42 s",
    59.7: "1 min 00 s",
    185: "3 min 05 s",
    7800: "2 h 10 min",
    273600: "3 d 04 h",
}


@pytest.mark.parametrize("seconds", DURATIONS)
def test_a_duration_has_its_two_largest_units(seconds: float) -> None:
    assert words.duration(seconds) == DURATIONS[seconds]


SIZES = {
    0: "0.0 KiB",
    812: "0.8 KiB",
    300 << 10: "300.0 KiB",
    12 << 20: "12.0 MiB",
    3 << 29: "1.5 GiB",
    5 << 40: "5.0 TiB",
}


@pytest.mark.parametrize("bytes_", SIZES)
def test_a_size_has_a_unit_that_leaves_something_of_it(bytes_: int) -> None:
    assert words.size(bytes_) == SIZES[bytes_]


NUMBERS = {
    0: "0",
    0.012345: "0.0123",
    12.34: "12.3",
    1234.0: "1234",
    9999: "9999",
    45612: "45.6k",
    7890000: "7.89M",
    -20000: "-20k",
    3e9: "3G",
}


@pytest.mark.parametrize("value", NUMBERS)
def test_a_number_has_about_three_digits(value: float) -> None:
    assert words.number(value) == NUMBERS[value]


def test_what_is_unknown_is_a_hyphen() -> None:
    assert {words.duration(None), words.number(None), words.percent(None), words.age(None)} == {"-"}


def test_an_age_is_counted_from_now() -> None:
    now = datetime(2026, 11, 21, 8, 0, 30, tzinfo=UTC)
    assert words.age("2026-11-21T08:00:00Z", now) == "30 s"
    assert words.age("2026-11-21T08:01:00+00:00", now) == "0.00 s"  # a clock ahead of ours


def test_each_state_has_a_style_and_each_final_one_an_exit_code() -> None:
    assert set(STATE_STYLES) == {*LIVE_STATES, *FINAL_STATES}
    assert {exit_codes.of_outcome(state) for state in FINAL_STATES} == {0, 1, 7}
    assert exit_codes.of_outcome("failed", "ended_early") == 8
    assert exit_codes.of_outcome("completed", "ended_early") == 0


def test_a_predicted_moment_has_its_middle_and_its_range() -> None:
    now = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
    moments = ("2026-11-21T07:01:00Z", "2026-11-21T07:02:00Z", "2026-11-21T07:05:00Z")
    low, middle, high = moments
    spans = {
        "in 2 min 00 s, probably 1 min 00 s to 5 min 00 s": (low, middle, high),
        "in 2 min 00 s, probably 1 min 00 s or more": (low, middle, None),
        "later than was looked ahead": (None, None, None),
    }
    for text, (p10, p50, p90) in spans.items():
        assert words.predicted({"p10": p10, "p50": p50, "p90": p90}, now) == text
    assert words.predicted(None) == "-"


def test_a_predicted_moment_that_has_passed_is_not_said_to_come_in_no_time() -> None:
    now = datetime(2026, 11, 21, 7, 2, tzinfo=UTC)
    before, soon, later = "2026-11-21T07:01:00Z", "2026-11-21T07:02:20Z", "2026-11-21T07:05:00Z"
    spans = {
        "any moment, probably within 20 s": (before, before, soon),
        "in 20 s, probably within 3 min 00 s": (before, soon, later),
        "any moment, later than was predicted": (before, before, before),
        "any moment, from now on": (before, before, None),
    }
    for text, (p10, p50, p90) in spans.items():
        assert words.predicted({"p10": p10, "p50": p50, "p90": p90}, now) == text


def test_what_is_left_is_never_nothing() -> None:
    assert [words.left(one) for one in (None, 0.004, 65)] == ["-", "under 1 s", "1 min 05 s"]


def test_a_gain_has_its_sign() -> None:
    assert [words.gain(one) for one in (0.31, -0.12, 0.0, None)] == ["+31 %", "-12 %", "+0 %", "-"]
