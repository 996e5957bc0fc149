"""A clock that tests move; sleeping moves it at once."""

from __future__ import annotations


class ManualClock:
    def __init__(self) -> None:
        self.seconds = 1000.0
        self.naps: list[float] = []

    def now(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.seconds += seconds
