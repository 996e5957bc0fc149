"""In which states does a job live, and in which is it over?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from concertina.vocabulary import JobState

LIVE_STATES: Final[tuple[JobState, ...]] = (
    "queued",
    "starting",
    "running",
    "rescaling",
    "paused",
    "stopping",
)
FINAL_STATES: Final[tuple[JobState, ...]] = ("completed", "failed", "cancelled")
