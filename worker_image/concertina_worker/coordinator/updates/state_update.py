"""What does an event change in what the coordinator knows? Bookkeeping, without decisions."""

from __future__ import annotations

from concertina_worker.coordinator import events as on
from concertina_worker.coordinator.instructions import (
    Instruction,
    ReleaseMember,
    SendPlan,
    SendStore,
)
from concertina_worker.coordinator.knowledge.crew import Crew, CrewMember
from concertina_worker.coordinator.knowledge.memory import Memory
from concertina_worker.coordinator.stragglers import Speeds
from concertina_worker.coordinator.updates.liveness import OF_ONE_WORKER, Liveness
from concertina_worker.plan import GenerationPlan
from concertina_worker.protocol import Desired, GenerationCause, GenerationReport, MemberPhase


class StateUpdate:
    """Keeps memory and crew true to the events."""

    def __init__(self, memory: Memory, crew: Crew, speeds: Speeds, *, now: float) -> None:
        self.memory = memory
        self.crew = crew
        self.speeds = speeds
        self._liveness = Liveness(memory, crew, now=now)
        self._store: on.StoreOpened | None = None  # the newest
        self._now = now

    def note(self, event: on.Event, *, now: float) -> list[Instruction]:  # noqa: C901, PLR0912 - a flat table
        """Change memory and crew; return the answers that need no decision."""
        self._now = now
        memory = self.memory
        if self._is_from_beyond(event):
            return []
        if isinstance(event, OF_ONE_WORKER):
            return self._liveness.note(event, now=now)
        match event:
            case on.WorkerConnected():
                return self._welcome(event)
            case on.WorkerReady():
                self.crew[event.worker].phase = MemberPhase.READY
                self._register(event)
            case on.StoreOpened():
                return self._pass_on(event)
            case on.BuildFailed():
                self._withdraw(event.generation)
            case on.WorkerSwitched():
                self._switch(event)
            case on.WorkerSettled():
                memory.reports.settle(event)
            case on.ProgressMade():
                self._advance(event)
            case on.RanOutOfMemory():
                memory.lower_batch_limit(max(event.samples // 2, 1))
            case on.PaceTold():
                if memory.active is not None and memory.active.generation == event.generation:
                    self.speeds.note(event.worker, event.pace)
            case on.WarningGiven():
                memory.note_warning(event.text)
            case on.LengthTold():
                memory.total_samples = event.total_samples
            case on.CheckpointWritten():
                memory.checkpoint_step = event.step
                memory.step = max(memory.step, event.step)
            case on.DesiredArrived():
                self._desire(event.desired)
            case on.TimePassed():
                return self._liveness.look_round(now=now)
        return []

    def _is_from_beyond(self, event: on.Event) -> bool:
        """True for a late event of a worker that was given up or has gone."""
        worker = getattr(event, "worker", None)
        if worker is None or isinstance(event, on.WorkerConnected):
            return False
        may_tell = isinstance(event, on.WorkerDisconnected | on.HeartBeat | on.GoodbyeSaid)
        return worker not in self.crew or (not may_tell and worker in self.memory.lost)

    def _welcome(self, event: on.WorkerConnected) -> list[Instruction]:
        memory = self.memory
        member = CrewMember(
            worker=event.worker,
            phase=event.phase,
            attempt=event.attempt,
            failed_in=event.failed_in,
            heard_at=self._now,
        )
        self.crew.add(member)
        self.crew.forget(but=self._needed)
        if event.worker in memory.lost or event.attempt < memory.attempt:
            member.is_released = True
            member.phase = MemberPhase.LOST
            return [ReleaseMember(worker=event.worker, reason="it was replaced")]
        if event.phase is not MemberPhase.CONNECTED:
            self._register(event)
        if event.plan is not None:
            self._adopt(event.worker, event.plan)
        if memory.pending and event.worker in {
            *memory.pending.members,
            *self.memory.active_members,
        }:
            return [SendPlan(worker=event.worker, plan=memory.pending), *self._directions(event)]
        return []

    @property
    def _needed(self) -> frozenset[str]:
        """Workers of which it matters how they left."""
        memory = self.memory
        return frozenset((*memory.planned_workers, *memory.leavers, *memory.reports.awaited))

    def _directions(self, event: on.WorkerConnected) -> list[Instruction]:
        """Tell a worker that was away when the pending plan's store opened where that store is."""
        store, plan = self._store, self.memory.pending
        if store is None or plan is None or store.generation != plan.generation:
            return []
        address = SendStore(worker=event.worker, generation=store.generation, address=store.address)
        return [address] if event.worker in plan.participants else []

    def _adopt(self, worker: str, plan: GenerationPlan) -> None:
        """A worker trains by a plan this process may not have seen it switch to."""
        memory = self.memory
        if memory.active is None or plan.generation > memory.active.generation:
            self._activate(plan, step=self.memory.step)
        memory.next_generation = max(memory.next_generation, plan.generation + 1)
        if worker not in memory.switched and plan == memory.active:
            memory.switched.append(worker)

    def _register(self, event: on.WorkerReady | on.WorkerConnected) -> None:
        self.memory.is_registered = True
        self.memory.model_bytes = event.model_bytes
        self.memory.is_sharded = event.is_sharded

    def _advance(self, event: on.ProgressMade) -> None:
        memory = self.memory
        memory.step = max(memory.step, event.metric["step"])
        memory.step_seconds = event.metric["step_seconds"] or memory.step_seconds
        memory.noise_scale = event.noise_scale or memory.noise_scale
        apart_seconds = memory.desired.get("point_seconds", 0.0) if memory.desired else 0.0
        memory.reports.add_metric(event.metric, apart_seconds=apart_seconds)
        if event.measurement is not None:
            memory.reports.add_measurement(event.measurement)

    def _pass_on(self, event: on.StoreOpened) -> list[Instruction]:
        self._store = event
        plan = next((p for p in self.memory.published if p.generation == event.generation), None)
        return [
            SendStore(worker=worker, generation=event.generation, address=event.address)
            for worker in (plan.participants if plan else ())
            if worker != event.worker and self.crew.is_connected(worker)
        ]

    def _withdraw(self, generation: int) -> None:
        """A group could not be built although nobody died: try again under a new number."""
        pending = self.memory.pending
        if pending is not None and pending.generation == generation:
            self.memory.withdrawn = generation

    def _switch(self, event: on.WorkerSwitched) -> None:
        memory = self.memory
        plan = next((p for p in memory.published if p.generation == event.generation), None)
        if plan is not None:
            memory.step = max(memory.step, event.step + event.lost_steps)
            self._activate(plan, step=event.step)
            memory.step = event.step
        if memory.active is None or memory.active.generation != event.generation:
            return
        if event.worker not in memory.switched:
            memory.switched.append(event.worker)
        if event.worker in memory.active.members:
            self.crew[event.worker].phase = MemberPhase.TRAINING

    def _activate(self, plan: GenerationPlan, *, step: int) -> None:
        """Make `plan` the one that trains; everything older is history."""
        memory = self.memory
        before = memory.active
        old_members = before.members if before else ()
        memory.reports.begin(self._generation_report(plan, before, step), awaited=plan.members)
        if not plan.members:
            memory.reports.draft = None  # everybody leaves: nothing trains
        memory.leavers = [w for w in old_members if w not in plan.members and w not in memory.lost]
        memory.left_generation = before.generation if before else 0
        memory.switched = []
        memory.active = plan
        memory.trained = list(plan.members)
        self.speeds.begin_generation(plan.members)
        later = [p for p in memory.published if p.generation > plan.generation]
        memory.published = later if plan.members else []  # who has left gets into none of them

    def _generation_report(
        self, plan: GenerationPlan, before: GenerationPlan | None, step: int
    ) -> GenerationReport:
        members_before = before.members if before else ()
        is_loss = plan.is_recovery and bool(members_before)  # after a pause nobody is missed
        lost_steps = max(self.memory.step - step, 0)
        return {
            "number": plan.generation,
            "revision": plan.revision,
            "cause": GenerationCause.WORKER_LOST if is_loss else GenerationCause.DESIRED,
            "workers": list(plan.members),
            "global_batch_size": plan.global_batch_size,
            "began_at": self._now,
            "step": step,
            "stall_seconds": 0.0,
            "transfer_seconds": 0.0,
            "lost_steps": lost_steps,
            "lost_work_seconds": lost_steps * self.memory.step_seconds,
            "lost_workers": [w for w in self.memory.trained if w in self.memory.lost],
        }

    def _desire(self, desired: Desired) -> None:
        memory = self.memory
        if desired["attempt"] > memory.attempt:
            self._begin_attempt(desired["attempt"])
        memory.desired = desired
        memory.next_generation = max(memory.next_generation, desired["next_generation"])
        new = [worker for worker in desired["workers"] if worker not in memory.ever_desired]
        memory.ever_desired += new

    def _begin_attempt(self, attempt: int) -> None:
        memory = self.memory
        memory.attempt = attempt
        memory.reports.finish_draft()
        if not any(self.crew.is_connected(worker) for worker in self.memory.active_members):
            memory.forget_generation()
        memory.is_finished = False
