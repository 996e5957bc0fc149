"""Which workers are there, and what does each say of itself? Kept in the crew, event by event.

A member whose connection ends is dead, or only its connection is. If it is dead, the others'
collective fails at once; while nobody says so, it has a moment to come back.
"""

from __future__ import annotations

import math
from typing import Final

from concertina_worker.coordinator import events as on
from concertina_worker.coordinator.instructions import HangUp, Instruction, SeeOff
from concertina_worker.coordinator.knowledge.crew import (
    GRACE_SECONDS,
    RETURN_SECONDS,
    Crew,
    CrewMember,
)
from concertina_worker.coordinator.knowledge.memory import Memory
from concertina_worker.coordinator.updates.heartbeat_rules import HeartbeatRules
from concertina_worker.protocol import MemberPhase

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


class Liveness:
    """Keeps the crew true to what its members say, and to their silence."""

    def __init__(self, memory: Memory, crew: Crew, *, now: float) -> None:
        self.memory = memory
        self.crew = crew
        self._heartbeats = HeartbeatRules(memory, crew, now=now)
        self._took_over_at = now
        for worker in memory.lost:
            crew.add(CrewMember(worker=worker, phase=MemberPhase.LOST, is_connected=False))

    def note(self, event: on.Event, *, now: float) -> list[Instruction]:
        """Take note of one of the events `OF_ONE_WORKER`."""
        match event:
            case on.WorkerDisconnected():
                self._miss(event.worker, now)
            case on.HeartBeat():
                member = self.crew[event.worker]
                member.heard_at, member.steps = now, event.steps
                member.place, member.since = event.place, now - event.seconds
            case on.CollectiveFailed():
                self.crew[event.worker].failed_in = event.generation
                self._lose_the_missing()
            case on.WorkerLeaving():
                self.crew[event.worker].is_leaving = True
            case on.WorkerFinished():
                self.crew[event.worker].phase = MemberPhase.FINISHED
                self.memory.reports.stop_awaiting(event.worker)
            case on.ErrorRaised():
                self.crew[event.worker].error = event.text
            case on.GpuMeasured():
                self.crew[event.worker].gpu_use = event.use
            case on.GoodbyeSaid():
                self.crew[event.worker].is_going = True
                return [SeeOff(worker=event.worker)]
        return []

    def look_round(self, *, now: float) -> list[Instruction]:
        """Lose who did not come back after a takeover, and give up who does not come further."""
        self._lose_the_absent(now)
        self._lose_the_missing(before=now - RETURN_SECONDS)
        faults = self._heartbeats.faults(now=now)
        for worker, why in faults.items():
            self.crew[worker].error = self.crew[worker].error or f"Given up: {why}"
            self.crew[worker].is_given_up = worker in self.memory.planned_workers
            self._lose(worker)
        self._break_up_what_is_stuck(now)
        return [HangUp(worker=worker, reason=why) for worker, why in faults.items()]

    def _break_up_what_is_stuck(self, now: float) -> None:
        memory = self.memory
        if self._heartbeats.is_stale_plan(now=now):
            memory.withdrawn = memory.published[-1].generation
        if memory.active and self._heartbeats.is_deadlocked(now=now):
            for worker in memory.active_members:
                self.crew[worker].failed_in = memory.active.generation

    def _lose_the_absent(self, now: float) -> None:
        if now - self._took_over_at < GRACE_SECONDS:
            return
        for worker in self.memory.planned_workers:
            if worker not in self.crew:
                self.crew.add(CrewMember(worker=worker, phase=MemberPhase.TRAINING))
                self._lose(worker)

    def _miss(self, worker: str, now: float) -> None:
        """Its connection ended."""
        member = self.crew[worker]
        is_training = worker in self.memory.active_members and member.phase is MemberPhase.TRAINING
        is_leaving = member.is_released or member.is_going or bool(member.error)
        if is_training and not (is_leaving or self._is_broken):
            member.is_connected, member.missing_since = False, now
        else:
            self._lose(worker)

    @property
    def _is_broken(self) -> bool:
        """Members of the running generation have said so, or a recovery is planned."""
        active, pending = self.memory.active, self.memory.pending
        has_failed = active is not None and any(
            self.crew.failed_in(worker) >= active.generation for worker in active.members
        )
        return has_failed or (pending is not None and pending.is_recovery)

    def _lose_the_missing(self, before: float = math.inf) -> None:
        for member in self.crew.missing():
            if member.missing_since is not None and member.missing_since <= before:
                self._lose(member.worker)

    def _lose(self, worker: str) -> None:
        member = self.crew[worker]
        member.is_connected, member.missing_since = False, None
        self.memory.reports.stop_awaiting(worker)
        if member.phase is MemberPhase.FINISHED:
            return
        if member.is_released and member.phase is not MemberPhase.LOST:
            self.crew.remove(worker)
        elif worker in self.memory.planned_workers:  # others may come back and wait for their turn
            member.phase = MemberPhase.LOST
            if worker not in self.memory.lost:
                self.memory.lost.append(worker)
            self._lose_the_missing()  # the survivors form a group now, and cannot wait for others
