"""In which states does a job live, and in which is it over?"""

from __future__ import annotations

from typing import Final, get_args

from concertina.vocabulary import JobState

FINAL_STATES: Final[tuple[JobState, ...]] = ("completed", "failed", "cancelled")
LIVE_STATES: Final[tuple[JobState, ...]] = tuple(
    state for state in get_args(JobState) if state not in FINAL_STATES
)
