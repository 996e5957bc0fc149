"""What is kept of a simulation while it runs? Use of the pools over time, and crowding."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from autoscaler.simulation.engine.results.records import UsageSample

if TYPE_CHECKING:
    from autoscaler.simulation.engine.replay.simulated_job import ReplayedJob


@dataclass(slots=True, kw_only=True)
class PoolBook:
    """One pool: who holds and who waits now, and the integral of the number of jobs."""

    pool: str
    present: int = 0
    job_seconds: float = 0.0
    updated_at: float
    gpus: Counter[str] = field(default_factory=Counter)
    waiting: Counter[str] = field(default_factory=Counter)
    speedups: dict[str, float] = field(default_factory=dict)

    def crowd(self, now: float) -> float:
        """Jobs present, integrated over time up to now."""
        self.job_seconds += self.present * (now - self.updated_at)
        self.updated_at = now
        return self.job_seconds


@dataclass(slots=True, kw_only=True)
class Recorder:
    """Follows every change of a job: call `forget` before and `account` after it."""

    books: dict[str, PoolBook]
    samples: list[UsageSample] = field(default_factory=list)
    _touched: set[str] = field(default_factory=set)
    _crowds: dict[str, tuple[float, float]] = field(default_factory=dict)  # (time, integral)
    _contention: dict[str, float] = field(default_factory=dict)  # of jobs that have left

    def arrive(self, job: ReplayedJob, now: float) -> None:
        book = self.books[job.submission.pool]
        self._crowds[job.submission.job_id] = (now, book.crowd(now))
        book.present += 1

    def leave(self, job: ReplayedJob, now: float) -> None:
        self._contention[job.submission.job_id] = self.mean_contention(job, now)
        self.books[job.submission.pool].present -= 1

    def mean_contention(self, job: ReplayedJob, now: float) -> float:
        """The mean number of jobs in its pool from its arrival to its end, or up to now."""
        name = job.submission.job_id
        if name in self._contention:
            return self._contention[name]
        since, before = self._crowds.get(name, (now, 0.0))
        lived = now - since
        book = self.books[job.submission.pool]
        return max((book.crowd(now) - before) / lived, 1.0) if lived > 0 else 1.0

    def forget(self, job: ReplayedJob) -> None:
        """Take the job out of the books as it stands."""
        book, team = self.books[job.submission.pool], job.submission.team
        self._touched.add(book.pool)
        if job.holds_gpus:
            book.gpus[team] -= job.gpus
            book.speedups.pop(job.submission.job_id, None)
        else:
            book.waiting[team] -= 1

    def account(self, job: ReplayedJob, speedup: float) -> None:
        """Enter it again as it stands now."""
        book, team = self.books[job.submission.pool], job.submission.team
        self._touched.add(book.pool)
        if job.holds_gpus:
            book.gpus[team] += job.gpus
            book.speedups[job.submission.job_id] = speedup
        else:
            book.waiting[team] += 1

    def sample(self, now: float) -> None:
        """Keep what has changed at this moment."""
        for name in sorted(self._touched):
            book = self.books[name]
            self.samples.append(
                UsageSample(
                    time=now,
                    pool=name,
                    gpus_by_team={team: n for team, n in sorted(book.gpus.items()) if n},
                    waiting_by_team={team: n for team, n in sorted(book.waiting.items()) if n},
                    speedup=sum(book.speedups.values()),
                )
            )
        self._touched.clear()
