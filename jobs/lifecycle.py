"""Which states can a job be in, and which moves between them are legal?

Every change of a job's state goes through `jobs.changes.transitions.move`, which checks this
table and updates with `WHERE state = expected`, so that of two who try, exactly one wins.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class State(StrEnum):
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


FINAL: Final = frozenset({State.COMPLETED, State.FAILED, State.CANCELLED})
LIVE: Final = frozenset(State) - FINAL
ACTIVE: Final = frozenset({State.STARTING, State.RUNNING, State.RESCALING})
WAITING: Final = frozenset({State.QUEUED, State.PAUSED})
WITHOUT_WORKERS: Final = FINAL | WAITING

MOVES: Final[dict[State, frozenset[State]]] = {
    State.QUEUED: frozenset({State.STARTING, State.PAUSED, State.CANCELLED, State.FAILED}),
    State.STARTING: frozenset({State.RUNNING, State.STOPPING, State.QUEUED}),
    State.RUNNING: frozenset({State.RESCALING, State.STARTING, State.STOPPING}),
    State.RESCALING: frozenset({State.RUNNING, State.STARTING, State.STOPPING}),
    State.PAUSED: frozenset({State.QUEUED, State.CANCELLED}),
    State.STOPPING: FINAL | {State.PAUSED, State.QUEUED},
    State.COMPLETED: frozenset(),
    State.FAILED: frozenset(),
    State.CANCELLED: frozenset(),
}


def is_legal(old: State, new: State) -> bool:
    return new in MOVES[old]
