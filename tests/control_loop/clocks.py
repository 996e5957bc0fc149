"""Which time is it for the control loop? The real one, or one that stands until a test moves it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """The time of the control loop, to which a test may add."""

    def __call__(self) -> datetime: ...

    def advance(self, seconds: float) -> None: ...


@dataclass
class RunningClock:
    """The real time, and what a test adds to it."""

    added: timedelta = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.added

    def advance(self, seconds: float) -> None:
        self.added += timedelta(seconds=seconds)


@dataclass
class StandingClock:
    """Goes on as a test says, and else only so far that of two looks one is the later."""

    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __call__(self) -> datetime:
        self.now += timedelta(microseconds=1)
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
