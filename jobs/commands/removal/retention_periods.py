"""For how long is each part of a job kept after its end?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRetention:
    """Periods by part; None: for ever. Parts without an end count from when they were written."""

    curves: timedelta | None
    logs: timedelta | None
    files: timedelta | None  # checkpoints
    history: timedelta | None  # events, generations, workers and the like
    jobs: timedelta | None  # the job itself
