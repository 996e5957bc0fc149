"""Which workers are there, and what does each say of itself? Kept in the crew, event by event."""

from __future__ import annotations

from typing import Final

from concertina_worker.coordinator import events as on
from concertina_worker.coordinator.crew import GRACE_SECONDS, Crew, CrewMember
from concertina_worker.coordinator.instructions import HangUp, Instruction, SeeOff
from concertina_worker.coordinator.memory import Memory
from concertina_worker.coordinator.watching import Watch
from concertina_worker.protocol import WorkerPhase

OF_ONE_WORKER: Final = (
    on.WorkerDisconnected,
    on.HeartBeat,
    on.CollectiveFailed,
    on.WorkerLeaving,
    on.WorkerFinished,
    on.ErrorRaised,
    on.GoodbyeSaid,
    on.GpuMeasured,
)


class Attendance:
    """Keeps the crew true to what its members say, and to their silence."""

    def __init__(self, memory: Memory, crew: Crew, *, now: float) -> None:
        self.memory = memory
        self.crew = crew
        self._watch = Watch(memory, crew, now=now)
        self._took_over_at = now
        for worker in memory.lost:
            crew.add(CrewMember(worker=worker, phase=WorkerPhase.LOST, is_connected=False))

    def note(self, event: on.Event, *, now: float) -> list[Instruction]:
        """Take note of one of the events `OF_ONE_WORKER`."""
        match event:
            case on.WorkerDisconnected():
                self._lose(event.worker)
            case on.HeartBeat():
                member = self.crew[event.worker]
                member.heard_at, member.steps = now, event.steps
                member.place, member.since = event.place, now - event.seconds
            case on.CollectiveFailed():
                self.crew[event.worker].failed_in = event.generation
            case on.WorkerLeaving():
                self.crew[event.worker].is_leaving = True
            case on.WorkerFinished():
                self.crew[event.worker].phase = WorkerPhase.FINISHED
                self.memory.reports.stop_awaiting(event.worker)
            case on.ErrorRaised():
                self.crew[event.worker].error = event.text
            case on.GpuMeasured():
                self.crew[event.worker].gpu_use = event.use
            case on.GoodbyeSaid():
                return [SeeOff(worker=event.worker)]
        return []

    def look_round(self, *, now: float) -> list[Instruction]:
        """Lose who did not come back after a takeover, and give up who does not come further."""
        self._lose_the_absent(now)
        faults = self._watch.faults(now=now)
        for worker, why in faults.items():
            self.crew[worker].error = self.crew[worker].error or f"Given up: {why}"
            self.crew[worker].is_given_up = worker in self.memory.planned_workers
            self._lose(worker)
        self._break_up_what_is_stuck(now)
        return [HangUp(worker=worker, reason=why) for worker, why in faults.items()]

    def _break_up_what_is_stuck(self, now: float) -> None:
        memory = self.memory
        if self._watch.is_stale_plan(now=now):
            memory.withdrawn = memory.published[-1].generation
        if memory.active and self._watch.is_deadlocked(now=now):
            for worker in memory.active_members:
                self.crew[worker].failed_in = memory.active.generation

    def _lose_the_absent(self, now: float) -> None:
        if now - self._took_over_at < GRACE_SECONDS:
            return
        for worker in self.memory.planned_workers:
            if worker not in self.crew:
                self.crew.add(CrewMember(worker=worker, phase=WorkerPhase.TRAINING))
                self._lose(worker)

    def _lose(self, worker: str) -> None:
        member = self.crew[worker]
        member.is_connected = False
        self.memory.reports.stop_awaiting(worker)
        if member.phase is WorkerPhase.FINISHED:
            return
        if member.is_released and member.phase is not WorkerPhase.LOST:
            self.crew.remove(worker)
        elif worker in self.memory.planned_workers:  # others may come back and wait for their turn
            member.phase = WorkerPhase.LOST
            if worker not in self.memory.lost:
                self.memory.lost.append(worker)
