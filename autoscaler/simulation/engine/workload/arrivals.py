"""When do jobs come? Seeded arrival processes, each with a mean rate in jobs per second."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

DAY_SECONDS = 86_400.0


class ArrivalProcess(Protocol):
    """An arrival process. `per_second` is its mean rate over a long time."""

    @property
    def per_second(self) -> float: ...

    def times(self, chance: random.Random) -> Iterator[float]:
        """Ascending, from 0 on, without end."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Poisson:
    """Independent of each other."""

    per_second: float

    def times(self, chance: random.Random) -> Iterator[float]:
        time = 0.0
        while True:
            time += chance.expovariate(self.per_second)
            yield time


@dataclass(frozen=True, slots=True, kw_only=True)
class Bursty:
    """Jobs come on and off in turn, for exponential times: Poisson while on, nobody while off."""

    per_second: float
    mean_on_seconds: float = 1800.0
    mean_off_seconds: float = 5400.0

    def times(self, chance: random.Random) -> Iterator[float]:
        period = self.mean_on_seconds + self.mean_off_seconds
        rate = self.per_second * period / self.mean_on_seconds
        start = 0.0
        while True:
            end = start + chance.expovariate(1 / self.mean_on_seconds)
            time = start + chance.expovariate(rate)
            while time < end:
                yield time
                time += chance.expovariate(rate)
            start = end + chance.expovariate(1 / self.mean_off_seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyCycle:
    """Poisson with a rate that swings once a day: least at 0 h, most at 12 h.

    rate(t) = mean * (1 - swing * cos(2 pi t / day)), thinned from the highest rate.
    """

    per_second: float
    swing: float = 0.8

    def times(self, chance: random.Random) -> Iterator[float]:
        highest = self.per_second * (1 + self.swing)
        time = 0.0
        while True:
            time += chance.expovariate(highest)
            rate = 1 - self.swing * math.cos(2 * math.pi * time / DAY_SECONDS)
            if chance.random() * (1 + self.swing) < rate:
                yield time


def rate_for_load(load: float, *, gpus: int, mean_length_seconds: float) -> float:
    """Jobs per second at which load = rate * E[length] / GPUs, with lengths on one GPU."""
    return load * gpus / mean_length_seconds
