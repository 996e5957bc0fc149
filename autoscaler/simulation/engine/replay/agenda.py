"""What happens next? A queue of events by time, and among equal times by kind."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple


class SimulationEventKind(IntEnum):
    """Kinds in the order in which events of one moment happen: the plan sees all of them."""

    FINISH = 0
    READY = 1  # a start, a stall or a joining is over
    REPAIR = 2
    NODE_LOST = 3
    WORKER_LOST = 4
    ARRIVAL = 5
    TICK = 6


class SimulationEvent(NamedTuple):
    """`subject` is a job's or node's index; `version` tells events that no longer hold."""

    time: float
    kind: SimulationEventKind
    sequence: int
    subject: int
    version: int


@dataclass(slots=True)
class Agenda:
    """A heap of events; equal ones come in the order they were added."""

    _heap: list[SimulationEvent] = field(default_factory=list)
    _added: int = 0

    def add(
        self, time: float, kind: SimulationEventKind, subject: int = 0, version: int = 0
    ) -> None:
        self._added += 1
        heapq.heappush(self._heap, SimulationEvent(time, kind, self._added, subject, version))

    def pop(self) -> SimulationEvent:
        return heapq.heappop(self._heap)

    @property
    def next_time(self) -> float | None:
        return self._heap[0].time if self._heap else None
