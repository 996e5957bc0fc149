"""Which jobs come, and when? A trace: the workload a simulation replays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from autoscaler.planning.cluster_state import BatchRange, Preemptibility

if TYPE_CHECKING:
    from autoscaler.planning.cluster_state import Utility
    from autoscaler.simulation.profiles import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceJob:
    """One submission. Times are seconds from the start of the trace.

    `samples` is the true work, in samples at the base batch. `declared_samples` is what the user
    says of it, right or wrong; None: nothing. `deadline` is on the trace's clock.
    """

    name: str
    team: str
    pool: str
    submitted_at: float
    profile: Profile
    samples: float
    batch: BatchRange
    declared_samples: int | None = None
    min_workers: int = 1
    max_workers: int = 1
    allowed_workers: tuple[int, ...] | None = None
    gpus_per_worker: int = 1
    priority: int = 50
    preemptibility: Preemptibility = Preemptibility.PREEMPTIBLE
    deadline: float | None = None
    requested_workers: int | None = None
    utility: Utility | None = None
    min_interval_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A workload. Names are unique; the order does not matter."""

    name: str
    jobs: tuple[TraceJob, ...]

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for job in self.jobs:
            if job.name in seen:
                raise InvalidTraceError(f"two jobs of trace {self.name} are called {job.name}")
            seen.add(job.name)
            for problem in problems_of(job):
                raise InvalidTraceError(f"job {job.name} of trace {self.name}: {problem}")


class InvalidTraceError(Exception):
    """A trace that no cluster could have seen."""


def problems_of(job: TraceJob) -> tuple[str, ...]:
    """What is wrong with a submission, in sentences; empty when nothing is."""
    rules = (
        (0 < job.samples < math.inf, f"samples must be above 0, not {job.samples:g}"),
        (
            0 <= job.submitted_at < math.inf,
            f"submitted_at must not be negative: {job.submitted_at:g}",
        ),
        (job.min_workers >= 1, f"min_workers must be at least 1, not {job.min_workers}"),
        (
            job.max_workers >= job.min_workers,
            f"max_workers {job.max_workers} is below min_workers {job.min_workers}",
        ),
        (
            _has_a_size(job),
            f"allowed_workers has none of min_workers {job.min_workers} to {job.max_workers}",
        ),
        (
            job.requested_workers is None or job.requested_workers >= 1,
            f"requested_workers must be at least 1 or absent, not {job.requested_workers}",
        ),
        (job.gpus_per_worker >= 1, f"gpus_per_worker must be at least 1: {job.gpus_per_worker}"),
        (
            1 <= job.batch.minimum <= job.batch.base <= job.batch.maximum,
            f"batches must satisfy 1 <= minimum <= base <= maximum: {job.batch}",
        ),
        (
            job.batch.multiple_of >= 1
            and (job.batch.max_per_gpu is None or job.batch.max_per_gpu >= 1),
            f"multiple_of and max_per_gpu must be at least 1: {job.batch}",
        ),
        (
            job.declared_samples is None or job.declared_samples > 0,
            f"declared_samples must be above 0 or absent, not {job.declared_samples}",
        ),
        (
            job.min_interval_seconds >= 0,
            f"min_interval_seconds must not be negative: {job.min_interval_seconds:g}",
        ),
        (
            job.utility is None or _rises(job.utility),
            "utility needs points of rising seconds",
        ),
    )
    return tuple(sentence for holds, sentence in rules if not holds)


def _has_a_size(job: TraceJob) -> bool:
    allowed = job.allowed_workers
    return allowed is None or any(job.min_workers <= n <= job.max_workers for n in allowed)


def _rises(utility: Utility) -> bool:
    seconds = [at for at, _ in utility.points]
    return bool(seconds) and all(earlier < later for earlier, later in pairwise(seconds))
