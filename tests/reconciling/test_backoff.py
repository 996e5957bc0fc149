"""Does the delay before another try grow with the failures, up to the longest and no further?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from autoscaler.backoff import Backoff

BACKOFF = Backoff(first_seconds=0.5, longest_seconds=30.0)


def test_each_failure_doubles_the_delay_up_to_the_longest() -> None:
    delays = [BACKOFF.seconds_after(failures) for failures in range(9)]
    assert delays == [0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]


def test_a_gentler_factor_grows_more_slowly() -> None:
    gentle = Backoff(first_seconds=1.0, longest_seconds=10.0, factor=1.5)
    assert [gentle.seconds_after(failures) for failures in range(1, 4)] == [1.0, 1.5, 2.25]


@given(st.integers(min_value=1_000, max_value=10**9))
def test_what_fails_for_weeks_is_tried_as_often_as_what_fails_for_hours(failures: int) -> None:
    assert BACKOFF.seconds_after(failures) == 30.0
