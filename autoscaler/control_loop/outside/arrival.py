"""What does a job still lack: data, code, room or places for its team, or the end of others?"""

from __future__ import annotations

from dataclasses import dataclass

from autoscaler.job_vocabulary import JobReason


@dataclass(frozen=True, slots=True, kw_only=True)
class StartPrerequisite:
    """What a job waits for before it may start, or will never get."""

    note: str = ""  # how far it is, for people
    seconds: float = 0.0  # until it is there, as far as anybody can tell
    waits_as: JobReason = JobReason.PREPARING
    is_news: bool = True  # there is an event when a job begins to wait for it
    problem: str = ""  # why it will never be there
    reason: JobReason = JobReason.DATA_UNAVAILABLE  # of a job that fails for that
