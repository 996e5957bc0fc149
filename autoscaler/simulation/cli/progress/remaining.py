"""How much longer does one simulation take? Measured on what it has done.

Two answers, and the longer one counts, because each passes over something:

- Of its jobs so many have ended in so much time. That passes over the last jobs, which may be long.
- Simulated time passes at a pace, up to the end that is in sight. That passes over jobs that wait.

A plan costs time for itself and for each job in it: once no more jobs come, less and less.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from autoscaler.simulation.engine.results.records import WorkAhead

SECONDS_TO_MEASURE: Final = 5.0  # before that an estimate is a guess
FEWEST_ENDED: Final = 20  # of fewer jobs the next one may be another kind
JOBS_OF_A_PLAN: Final = 15  # guessed: a plan costs about as much as so many jobs in it
_SIGNS_OF_A_STRETCH: Final = 20  # some seconds of computing


class ProgressSign(NamedTuple):
    """How far a simulation is: jobs that have ended, the time on the trace's clock, the rest."""

    ended: int
    now: float
    ahead: WorkAhead


@dataclass(slots=True, kw_only=True)
class SimulationCourse:
    """One simulation from its beginning on. All other times are those of a real clock."""

    jobs: int
    began_at: float
    ended: int = 0
    done_at: float | None = None
    _last: ProgressSign | None = None
    _stretch: deque[tuple[float, float, int]] = field(
        default_factory=lambda: deque(maxlen=_SIGNS_OF_A_STRETCH)
    )

    def note(self, sign: ProgressSign, now: float) -> None:
        self.ended, self._last = sign.ended, sign
        self._stretch.append((now, sign.now, sign.ahead.present))

    def finish(self, now: float) -> None:
        self.ended, self.done_at = self.jobs, now

    def took(self, now: float) -> float:
        return (now if self.done_at is None else self.done_at) - self.began_at

    def left(self, now: float) -> float | None:
        """Seconds; None: too little has been done to tell."""
        if self.done_at is not None:
            return 0.0
        if self._last is None or self.took(now) < SECONDS_TO_MEASURE:
            return None
        return max(self._left_by_jobs(now), self._left_by_time(self._last)) or None

    def _left_by_jobs(self, now: float) -> float:
        if self.ended < FEWEST_ENDED:
            return 0.0
        return self.took(now) * (self.jobs - self.ended) / self.ended

    def _left_by_time(self, sign: ProgressSign) -> float:
        ahead, lately = sign.ahead, self._lately()
        to_arrive = max(ahead.last_arrival - sign.now, 0.0)
        afterwards = ahead.end - max(ahead.last_arrival, sign.now)
        present = sum(jobs for *_, jobs in self._stretch) / len(self._stretch)
        for_each = lately / (present + JOBS_OF_A_PLAN)
        return lately * to_arrive + for_each * (ahead.job_seconds + JOBS_OF_A_PLAN * afterwards)

    def _lately(self) -> float:
        """Seconds of computing for one that is simulated."""
        (began_at, since, _), (now, until, _) = self._stretch[0], self._stretch[-1]
        return (now - began_at) / (until - since) if until > since else 0.0
