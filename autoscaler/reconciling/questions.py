"""What must a rule know that costs something to find out? It asks, and only then is it looked up.

A rule that lacks an answer raises `Unanswered`; whoever applies the rule finds the answer, puts it
into the snapshot and applies the rule anew. So the rule stays a function of the snapshot, and
nothing is read that nobody needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from cluster.worker_host import LogLine

from autoscaler.reconciling.worker_snapshot import NodeSnapshot

_Answer_co = TypeVar("_Answer_co", covariant=True)


class Question(Generic[_Answer_co]):
    """Equal questions have the same answer within one look at a job."""

    __slots__ = ()


class Unanswered(Exception):
    """The snapshot does not hold the answer to this question."""

    def __init__(self, question: Question[object]) -> None:
        super().__init__(question)
        self.question = question


@dataclass(frozen=True, slots=True, kw_only=True)
class BusyCores:
    """How many cores a worker kept busy on average, as read from outside."""

    usually: float  # since it began
    lately: float  # since the reading before the last


@dataclass(frozen=True, slots=True)
class CoresOf(Question[BusyCores | None]):
    """What a worker took of the processor; None: nobody has read that yet, or can."""

    worker: str


@dataclass(frozen=True, slots=True)
class LastLines(Question[tuple[LogLine, ...]]):
    """The end of what a worker wrote, oldest first."""

    worker: str
    count: int


@dataclass(frozen=True, slots=True)
class MemoryLimit(Question[int | None]):
    """How many bytes a worker may use; None: nothing is known of its node's machine."""

    worker: str


@dataclass(frozen=True, slots=True)
class KeptLines(Question[tuple[str, ...]]):
    """The end of what a worker wrote whose own code went wrong, as it was kept with its row."""

    worker: str


@dataclass(frozen=True, slots=True)
class KillsForMemory(Question[int]):
    """How many of the job's workers were killed for their memory since then."""

    since: datetime


@dataclass(frozen=True, slots=True)
class NewlySlowNodes(Question[frozenset[str]]):
    """Which of these nodes slow their workers down, and nobody has heard of that lately."""

    among: frozenset[str]


@dataclass(frozen=True, slots=True)
class NodeNamed(Question[NodeSnapshot | None]):
    """The node of this name; None: there is none any more."""

    name: str


@dataclass(frozen=True, slots=True)
class OwnersWaitSince(Question[datetime | None]):
    """Since when a team waits for what it is guaranteed and this job borrows; None: none does."""


@dataclass(frozen=True, slots=True)
class HasRoomForNextSet(Question[bool]):
    """True if the GPUs that the newest assignment counts on are free."""
