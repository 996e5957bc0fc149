"""How far are the simulations, and how much longer do they take? Measured on what they have done.

A simulation's jobs end about as evenly as its plans are made, so its share of jobs that have ended
stands for its share of the time. Simulations that wait for a free process take as long as the
others do on average.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from autoscaler.plots.units import duration

SECONDS_TO_MEASURE: Final = 5.0  # before that an estimate is a guess
FEWEST_ENDED: Final = 20


@dataclass(slots=True, kw_only=True)
class Pace:
    """The simulations of one trace: how many jobs of each have ended, and since when it runs."""

    labels: Sequence[str]
    jobs: int
    processes: int
    _ended: dict[str, int] = field(default_factory=dict)
    _began_at: dict[str, float] = field(default_factory=dict)
    _done_at: dict[str, float] = field(default_factory=dict)

    @property
    def ended(self) -> Mapping[str, int]:
        return self._ended

    def note(self, label: str, ended: int, now: float) -> None:
        self._began_at.setdefault(label, now)
        self._ended[label] = ended
        if ended == self.jobs:
            self._done_at.setdefault(label, now)

    def sentence(self, now: float) -> str:
        """The line that is shown."""
        total = self.jobs * len(self.labels)
        ended = sum(self._ended.values())
        line = f"{100 * ended / total:.0f} %: {ended:,} of {total:,} jobs"
        if len(self.labels) > 1:
            line += f" under {len(self.labels)} policies, {len(self._done_at)} of them done"
        left = self.seconds_left(now)
        return line if left is None else f"{line}; about {duration(round(left))} left"

    def seconds_left(self, now: float) -> float | None:
        """None: too little has been done to tell."""
        running = [label for label in self._ended if label not in self._done_at]
        if any(self._is_unmeasured(label, now) for label in running) or not self._ended:
            return None
        left = [self._left(label, now) for label in running]
        waiting = len(self.labels) - len(self._ended)
        usual = sum(self._took(label, now) + self._left(label, now) for label in self._ended)
        to_come = waiting * usual / len(self._ended)
        at_once = max(min(self.processes, len(running) + waiting), 1)
        return max((sum(left) + to_come) / at_once, *left, 0.0)

    def _is_unmeasured(self, label: str, now: float) -> bool:
        return self._took(label, now) < SECONDS_TO_MEASURE or self._ended[label] < FEWEST_ENDED

    def _took(self, label: str, now: float) -> float:
        return self._done_at.get(label, now) - self._began_at[label]

    def _left(self, label: str, now: float) -> float:
        ended = self._ended[label]
        return self._took(label, now) * (self.jobs - ended) / ended
