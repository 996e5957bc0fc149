"""What is known of the near past? Jobs that ended, arrivals, and how far the live ones are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autoscaler.planning.snapshot.cluster_state import PlannedJob


@dataclass(frozen=True, slots=True, kw_only=True)
class PastJob:
    """A job that came lately, as it was submitted, and the work it turned out to be."""

    job: PlannedJob  # waiting, with its fitted model
    samples: float  # 0: it reported none
    run_seconds: float  # from its first step to its end
    declared_samples: int | None = None  # how long it was said to be


@dataclass(frozen=True, slots=True, kw_only=True)
class JobProgress:
    """How far a live job is, and how long it was said to be."""

    samples: float = 0.0
    declared_samples: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentPast:
    """What is known of the near past."""

    ended: tuple[PastJob, ...] = ()
    arrivals_per_second: float = 0.0
    arrivals_seen: int | None = None  # what the rate is counted from; None: it is known exactly
    live: Mapping[str, JobProgress] = field(default_factory=dict)  # by job id
