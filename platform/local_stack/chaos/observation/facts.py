"""What is known of the jobs and their processes at one moment? Plain values, for checks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from jobs.lifecycle import FINAL, JobState


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFact:
    """A change of a job's state."""

    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationFact:
    """One set of workers that trained."""

    number: int
    attempt: int
    step: int
    worker_ids: tuple[str, ...]
    lost_worker_ids: tuple[str, ...]
    recorded_at: datetime
    is_open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerFact:
    """One worker on record."""

    id: str
    phase: str
    created_at: datetime
    gone_at: datetime | None

    @property
    def lives(self) -> bool:
        return self.phase != "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFact:
    """One job, and its histories, oldest first."""

    id: str
    name: str
    state: str
    reason: str
    message: str
    failures: int
    step: int
    samples: int
    gpu_seconds: float
    coordinator_term: int
    state_changes: tuple[EventFact, ...] = ()
    generations: tuple[GenerationFact, ...] = ()
    workers: tuple[WorkerFact, ...] = ()

    @property
    def is_final(self) -> bool:
        return self.state in FINAL

    @property
    def should_train(self) -> bool:
        return not self.is_final and self.state not in {JobState.PAUSED, JobState.STOPPING}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFact:
    """A GPU that is booked."""

    node: str
    gpu_index: int
    worker_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All that the database holds of them."""

    jobs: tuple[JobFact, ...]
    claims: tuple[ClaimFact, ...] = ()

    def with_names(self, prefix: str) -> Facts:
        """The facts of the jobs whose names begin so."""
        return replace(self, jobs=tuple(job for job in self.jobs if job.name.startswith(prefix)))
