"""Which jobs come, and when? A trace: the workload a simulation replays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Final

from autoscaler.planning.snapshot.job_terms import JobTerms
from autoscaler.simulation.engine.truth import profiles

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.job_terms import Utility
    from autoscaler.simulation.engine.truth.profiles import Profile


MOST_SAMPLES: Final = 1e18
LATEST_SECONDS: Final = 1e11  # three thousand years: later is no time, but a mistake
HIGHEST_PRIORITY: Final = 1000

Rule = tuple[bool, str]  # whether it holds, and what to say if not


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceJob(JobTerms):
    """One submission: its terms and its true work. Times are seconds from the start of the trace.

    `samples` is the true work, in samples at the base batch. `declared_samples` is what the user
    says of it, right or wrong; None: nothing.
    """

    profile: Profile
    samples: float
    declared_samples: int | None = None


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
        for profile in {job.profile for job in self.jobs}:
            for problem in profiles.problems_of(profile):
                raise InvalidTraceError(f"profile {profile.name}: {problem}")


class InvalidTraceError(Exception):
    """A trace that no cluster could have seen."""


def problems_of(job: TraceJob) -> tuple[str, ...]:
    """Return what is wrong with a submission, in sentences; empty when nothing is."""
    rules = (*_rules_of_work(job), *_rules_of_sizes(job))
    return tuple(sentence for holds, sentence in rules if not holds)


def _rules_of_work(job: TraceJob) -> tuple[Rule, ...]:
    return (
        (bool(job.name and job.team and job.pool), "name, team and pool must not be empty"),
        (
            0 < job.samples <= MOST_SAMPLES,
            f"samples must be above 0 and at most {MOST_SAMPLES:g}, not {job.samples}",
        ),
        (
            0 <= job.submitted_at <= LATEST_SECONDS,
            f"submitted_at must be 0 to {LATEST_SECONDS:g} seconds, not {job.submitted_at}",
        ),
        (
            job.deadline is None or abs(job.deadline) <= LATEST_SECONDS,
            f"deadline must be a time on the trace's clock, not {job.deadline}",
        ),
        (
            0 <= job.priority <= HIGHEST_PRIORITY,
            f"priority must be 0 to {HIGHEST_PRIORITY}, not {job.priority}",
        ),
        (
            job.declared_samples is None or 0 < job.declared_samples <= MOST_SAMPLES,
            f"declared_samples must be absent or above 0, not {job.declared_samples}",
        ),
        (
            0 <= job.min_interval_seconds <= LATEST_SECONDS,
            f"min_interval_seconds must not be negative: {job.min_interval_seconds}",
        ),
        (
            job.utility is None or _rises(job.utility),
            "utility needs points of rising seconds and dollars that are numbers",
        ),
    )


def _rules_of_sizes(job: TraceJob) -> tuple[Rule, ...]:
    return (
        (job.min_workers >= 1, f"min_workers must be at least 1, not {job.min_workers}"),
        (
            job.max_workers >= job.min_workers,
            f"max_workers {job.max_workers} is below min_workers {job.min_workers}",
        ),
        (
            _has_a_size(job),
            f"allowed_workers needs a number of {job.min_workers} to {job.max_workers}",
        ),
        (
            job.worker_step == 1 or (job.worker_step > 1 and job.allowed_workers is None),
            f"worker_step must be at least 1, and 1 beside allowed_workers: {job.worker_step}",
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
    )


def _has_a_size(job: TraceJob) -> bool:
    allowed = job.allowed_workers
    return allowed is None or (
        all(isinstance(n, int) and n >= 1 for n in allowed)
        and any(job.min_workers <= n <= job.max_workers for n in allowed)
    )


def _rises(utility: Utility) -> bool:
    seconds = [at for at, _ in utility.points]
    are_numbers = all(map(math.isfinite, chain.from_iterable(utility.points)))
    rises = all(earlier < later for earlier, later in pairwise(seconds))
    return bool(seconds) and are_numbers and rises
