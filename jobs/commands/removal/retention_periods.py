"""For how long is each part of a job kept after its end, unless its team says otherwise?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRetention:
    """The installation's numbers; live jobs' rows count from when they were written."""

    days: Mapping[str, int]  # by `KeptPart`; 0: for ever
    history: timedelta | None  # events, generations, workers and the like; None: for ever
    jobs: timedelta | None  # the job itself
