"""How long is what of a job kept after its end?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptOfJobs:
    """None: for ever. What is not of a job's end counts from when it was written."""

    curves: timedelta | None
    logs: timedelta | None
    files: timedelta | None  # checkpoints
    history: timedelta | None  # events, generations, workers and the like
    jobs: timedelta | None  # the job itself
