"""What did a job's user ask for? The same terms in the cluster, in a trace, and in its history.

Whoever makes one kind of job from another hands all of them on with `terms_of`, so that a new wish
is one field here, and one line where the spec is read. What belongs to one kind only stays there:
`scale_on` is not a term, as a trace knows no metrics of applications.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final

from autoscaler.planning.snapshot.vocabulary import Preemptibility


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRange:
    """Allowed global batch sizes: `minimum <= b <= maximum`, `b` a multiple of `multiple_of`."""

    base: int
    minimum: int
    maximum: int
    multiple_of: int = 1
    max_per_gpu: int | None = None  # memory limit of one worker's share, before accumulation
    accumulation: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Utility:
    """What finishing is worth to the user, in dollars, by seconds after the submission.

    Piecewise linear through (seconds, dollars) points with rising seconds; the last slope goes on.
    """

    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTerms:
    """The wishes of one submission. `submitted_at` and `deadline` are seconds on one clock."""

    name: str
    team: str
    pool: str
    submitted_at: float
    batch: BatchRange
    min_workers: int = 1
    max_workers: int = 1
    allowed_workers: tuple[int, ...] | None = None
    worker_step: int = 1  # counts are min_workers plus multiples of it; 1 beside `allowed_workers`
    gpus_per_worker: int = 1
    priority: int = 50
    preemptibility: Preemptibility = Preemptibility.PREEMPTIBLE
    deadline: float | None = None  # when it should be done
    requested_workers: int | None = None  # what inelastic policies give; None: `max_workers`
    utility: Utility | None = None
    min_interval_seconds: float = 0.0  # between two rescales
    user: str = ""  # who submitted it; empty: not known, and no limit of a user holds


_TERMS: Final = tuple(term.name for term in fields(JobTerms))


def terms_of(job: JobTerms) -> dict[str, Any]:
    """The terms of any kind of job, as arguments for another kind."""
    return {name: getattr(job, name) for name in _TERMS}
