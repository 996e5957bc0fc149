"""How fast a log is copied."""

from __future__ import annotations

from cluster.logs.pace import BYTES_PER_SECOND, LogRateLimiter


def test_a_burst_passes_and_a_flood_takes_its_time() -> None:
    slept: list[float] = []
    clock = iter([0.0] * 100)
    pace = LogRateLimiter(clock=lambda: next(clock), sleep=slept.append)
    for _ in range(4):
        pace.take(BYTES_PER_SECOND)
    assert slept == []
    pace.take(BYTES_PER_SECOND)
    assert slept == [1.0]


def test_room_comes_back_with_time_but_no_more_than_a_burst() -> None:
    slept: list[float] = []
    clock = iter([0.0, 0.0, 1e6, 1e6])
    pace = LogRateLimiter(clock=lambda: next(clock), sleep=slept.append)
    pace.take(5 * BYTES_PER_SECOND)
    pace.take(4 * BYTES_PER_SECOND)
    assert slept == [1.0]
    pace.take(BYTES_PER_SECOND)
    assert slept == [1.0, 1.0]
