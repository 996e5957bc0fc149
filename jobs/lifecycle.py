"""Which states can a job be in, and which moves between them are legal?

Every change of a job's state goes through `jobs.changes.transitions.move`, which checks this
table and updates with `WHERE state = expected`, so that of two who try, exactly one wins.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class JobState(StrEnum):
    """A job's state; details live in its `reason` and `message`."""

    QUEUED = "queued"  # accepted; holds no GPU
    STARTING = "starting"  # holds GPUs; has not taken its first step
    RUNNING = "running"  # trains
    RESCALING = "rescaling"  # trains on, while its workers or batch are being changed
    PAUSED = "paused"  # holds no GPU; continues from its checkpoint when resumed
    STOPPING = "stopping"  # its workers are ending; what it becomes is in `ends_as`
    COMPLETED = "completed"  # its command ended with exit code 0
    FAILED = "failed"  # its own code failed too often, or can never run
    CANCELLED = "cancelled"  # somebody stopped it for good


FINAL: Final = frozenset({JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED})
LIVE: Final = frozenset(JobState) - FINAL
ACTIVE: Final = frozenset({JobState.STARTING, JobState.RUNNING, JobState.RESCALING})
WAITING: Final = frozenset({JobState.QUEUED, JobState.PAUSED})
WITHOUT_WORKERS: Final = FINAL | WAITING

MOVES: Final[dict[JobState, frozenset[JobState]]] = {
    JobState.QUEUED: frozenset(
        {JobState.STARTING, JobState.PAUSED, JobState.CANCELLED, JobState.FAILED}
    ),
    JobState.STARTING: frozenset({JobState.RUNNING, JobState.STOPPING, JobState.QUEUED}),
    JobState.RUNNING: frozenset({JobState.RESCALING, JobState.STARTING, JobState.STOPPING}),
    JobState.RESCALING: frozenset({JobState.RUNNING, JobState.STARTING, JobState.STOPPING}),
    JobState.PAUSED: frozenset({JobState.QUEUED, JobState.CANCELLED}),
    JobState.STOPPING: FINAL | {JobState.PAUSED, JobState.QUEUED},
    JobState.COMPLETED: frozenset(),
    JobState.FAILED: frozenset(),
    JobState.CANCELLED: frozenset(),
}


def is_legal(old: JobState, new: JobState) -> bool:
    return new in MOVES[old]
