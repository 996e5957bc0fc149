"""Which part of a trace is replayed? A stretch of time, a drawn share of it, its first jobs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from autoscaler.simulation.engine.workload.trace import Trace, TraceJob

_BYTES: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Jobs submitted from `since` until before `until`; of these a share; of these the first.

    Times are seconds from the start of the trace. None: no bound.
    """

    since: float = 0.0
    until: float | None = None
    share: float = 1.0
    most_jobs: int | None = None
    seed: int = 0

    def of(self, trace: Trace) -> Trace:
        """The part of the trace, on a clock that starts at `since`; perhaps without a job.

        Whether a job is in the share depends on its name and the seed only, so a smaller share of
        the same seed holds no other jobs than a larger one.
        """
        jobs = sorted(filter(self._holds, trace.jobs), key=lambda job: (job.submitted_at, job.name))
        if self.since:
            jobs = [_earlier(job, self.since) for job in jobs]
        return replace(trace, jobs=tuple(jobs[: self.most_jobs]))

    def _holds(self, job: TraceJob) -> bool:
        is_in_time = self.since <= job.submitted_at and (
            self.until is None or job.submitted_at < self.until
        )
        return is_in_time and (self.share >= 1 or _drawn(job.name, self.seed) < self.share)


def _drawn(name: str, seed: int) -> float:
    """A number of [0, 1), always the same for the same name and seed."""
    digest = blake2b(f"{seed} {name}".encode(), digest_size=_BYTES).digest()
    return int.from_bytes(digest) / 256**_BYTES


def _earlier(job: TraceJob, seconds: float) -> TraceJob:
    deadline = None if job.deadline is None else job.deadline - seconds
    return replace(job, submitted_at=job.submitted_at - seconds, deadline=deadline)
