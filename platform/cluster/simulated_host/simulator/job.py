"""What becomes of the workers of one job? They come up, train by their coordinator's plans, leave.

Nothing here knows a clock or a process: `JobEnvironment` let time pass and end processes.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from cluster.simulated_host.simulator.behaviour import Behaviour
from cluster.simulated_host.simulator.progress import TrainingProgress
from concertina_worker.coordinator import events as on
from concertina_worker.coordinator.instructions import Instruction, ReleaseMember, SendPlan
from concertina_worker.coordinator.stragglers import WorkerThroughput
from concertina_worker.plan import GenerationPlan
from concertina_worker.protocol import ExitCode, MemberPhase
from concertina_worker.wire import ScriptPlace

ROUND_SECONDS: Final = 1.0  # between two heartbeats, and two metrics
_RECONNECT_SECONDS: Final = 0.2
_GOODBYE_SECONDS: Final = 0.3
_SETTLING_ROUNDS: Final = 2
_FAILED: Final = 1


class JobEnvironment(Protocol):
    """What a job can do beside its training."""

    def now(self) -> float:
        """Unix seconds."""

    def later(self, seconds: float, what: Callable[[], None]) -> None:
        """Call it after so many seconds."""

    def end(self, process_id: str, exit_code: int) -> None:
        """End the process of a worker."""

    def write(self, process_id: str, text: str) -> None:
        """Write a line of a worker's log."""

    def tell(self, event: on.Event) -> None:
        """Let the job's coordinator have an event, if there is one."""


@dataclass(slots=True, kw_only=True)
class SimulatedWorker:
    """One worker."""

    id: str
    attempt: int
    phase: MemberPhase | None = None  # None: it has not come up yet
    plan: GenerationPlan | None = None  # the generation it trains in
    was_released: bool = False


class SimulatedJob:
    """The workers of a job, and what they have trained."""

    def __init__(self, behaviour: Behaviour, surroundings: JobEnvironment) -> None:
        self._behaviour = behaviour
        self._around = surroundings
        self._workers: dict[str, SimulatedWorker] = {}
        self._progress = TrainingProgress(behaviour=behaviour)
        self._training: GenerationPlan | None = None  # None: nobody trains at this moment
        self._next: GenerationPlan | None = None  # the newest plan that was sent
        self._rounds = 0

    def start(self, worker_id: str, *, attempt: int) -> None:
        self._workers[worker_id] = SimulatedWorker(id=worker_id, attempt=attempt)
        chance = random.Random(worker_id)  # noqa: S311 - the same in every run
        seconds = self._behaviour.start_seconds * chance.uniform(0.8, 1.2)
        self._around.later(seconds, lambda: self._come_up(worker_id))
        if self._behaviour.fails_after_seconds:
            seconds += chance.expovariate(1 / self._behaviour.fails_after_seconds)
            self._around.later(seconds, lambda: self._fail(worker_id))

    def ask_to_leave(self, worker_id: str) -> bool:
        """True if the worker takes time for it; otherwise it may end at once."""
        worker = self._workers.get(worker_id)
        if worker is None or worker.plan is None:
            return False
        self._around.tell(on.WorkerLeaving(worker=worker_id))
        return True

    def has_ended(self, worker_id: str) -> None:
        """Its process is over, however that came about."""
        worker = self._workers.pop(worker_id, None)
        if worker is None or worker.phase is None:
            return
        active = self._training
        if active is not None and worker_id in active.members and not self._progress.is_finished:
            self._training = None
            for other in self._members(active):
                event = on.CollectiveFailed(worker=other.id, generation=active.generation)
                self._around.tell(event)
        self._around.tell(on.WorkerDisconnected(worker=worker_id))

    def meet_coordinator(self) -> None:
        """Another coordinator is there: all say hello again."""
        for worker in self._workers.values():
            if worker.phase is not None:
                self._around.later(_RECONNECT_SECONDS, lambda one=worker: self._say_hello(one))  # type: ignore[misc]

    def hear(self, instruction: Instruction) -> None:
        """Do what the coordinator tells a worker."""
        match instruction:
            case SendPlan(plan=plan):
                if self._next is None or plan.generation > self._next.generation:
                    self._next = plan
                    self._around.later(self._behaviour.switch_seconds, lambda: self._switch(plan))
            case ReleaseMember(worker=worker):
                self._leave(worker, ExitCode.RELEASED)

    def pass_round(self) -> None:
        """Another second has passed."""
        self._rounds += 1
        if self._training is not None:
            self._train(self._training)
        for worker in self._workers.values():
            if worker.phase is not None:
                self._around.tell(self._heartbeat(worker))
        self._around.tell(on.TimePassed())

    # -- how a worker comes and goes ------------------------------------------------------------

    def _come_up(self, worker_id: str) -> None:
        worker = self._workers.get(worker_id)
        if worker is not None:
            worker.phase = MemberPhase.CONNECTED
            self._say_hello(worker)
            self._around.later(self._behaviour.ready_seconds, lambda: self._be_ready(worker))

    def _say_hello(self, worker: SimulatedWorker) -> None:
        if self._workers.get(worker.id) is not worker or worker.phase is None:
            return
        self._around.tell(
            on.WorkerConnected(
                worker=worker.id,
                attempt=worker.attempt,
                phase=worker.phase,
                plan=worker.plan,
                failed_in=0,
                model_bytes=self._behaviour.model_bytes,
            )
        )
        length = on.LengthTold(worker=worker.id, total_samples=self._behaviour.samples)
        self._around.tell(length)

    def _be_ready(self, worker: SimulatedWorker) -> None:
        if self._workers.get(worker.id) is worker and worker.phase is MemberPhase.CONNECTED:
            worker.phase = MemberPhase.READY
            self._around.write(worker.id, "The simulated model is built.")
            model_bytes = self._behaviour.model_bytes
            self._around.tell(on.WorkerReady(worker=worker.id, model_bytes=model_bytes))

    def _fail(self, worker_id: str) -> None:
        if worker_id in self._workers and not self._progress.is_finished:
            self._around.write(worker_id, "RuntimeError: a simulated failure")
            error = "RuntimeError: a simulated failure"
            if self._workers[worker_id].phase is not None:
                self._around.tell(on.ErrorRaised(worker=worker_id, text=error))
            self._around.end(worker_id, _FAILED)

    def _leave(self, worker_id: str, exit_code: int) -> None:
        worker = self._workers.get(worker_id)
        if worker is not None and not worker.was_released:
            worker.was_released = True
            self._around.later(_GOODBYE_SECONDS, lambda: self._say_goodbye(worker, exit_code))

    def _say_goodbye(self, worker: SimulatedWorker, exit_code: int) -> None:
        if self._workers.get(worker.id) is worker:
            self._around.tell(on.GoodbyeSaid(worker=worker.id))
            self._around.end(worker.id, exit_code)

    # -- how they train -------------------------------------------------------------------------

    def _switch(self, plan: GenerationPlan) -> None:
        """All members change to a plan, unless there is a newer one or one of them is gone."""
        if plan is not self._next or any(w not in self._workers for w in plan.members):
            return
        before = [worker for worker in self._workers.values() if worker.plan is not None]
        if not before:
            self._progress.fall_back()
        elif not plan.members:
            self._keep()
        self._training = None
        involved = {worker.id: worker for worker in (*before, *self._members(plan))}
        for worker in involved.values():
            worker.plan = plan if worker.id in plan.members else None
            if worker.plan is not None:
                worker.phase = MemberPhase.TRAINING
            self._around.tell(
                on.WorkerSwitched(
                    worker=worker.id, generation=plan.generation, step=self._progress.step
                )
            )
        if plan.members:
            self._begin(plan)

    def _begin(self, plan: GenerationPlan) -> None:
        self._training = plan
        self._progress.begin(
            plan.generation, workers=len(plan.members), batch=plan.global_batch_size
        )
        self._around.later(_SETTLING_ROUNDS * ROUND_SECONDS, lambda: self._settle(plan))

    def _settle(self, plan: GenerationPlan) -> None:
        for worker in self._members(plan):
            if worker.plan is plan:
                self._around.tell(
                    on.WorkerSettled(
                        worker=worker.id,
                        generation=plan.generation,
                        stall_seconds=self._behaviour.stall_seconds,
                        transfer_seconds=self._behaviour.stall_seconds,
                    )
                )

    def _train(self, plan: GenerationPlan) -> None:
        self._progress.advance(ROUND_SECONDS)
        main, *_ = plan.members
        event = on.ProgressMade(
            worker=main,
            metric=self._progress.metric(self._around.now()),
            measurement=self._progress.measurement(),
        )
        self._around.tell(event)
        for worker in plan.members:
            self._around.tell(self._pace(worker, plan))
        is_due = self._progress.trained_seconds > self._behaviour.checkpoint_seconds
        if is_due or self._progress.is_finished:
            self._keep()
            text = f"step {self._progress.step}: loss {self._progress.loss:.3f}"
            self._around.write(main, text)
        if self._progress.is_finished:
            self._finish(plan)

    def _keep(self) -> None:
        self._progress.keep()
        for worker in self._workers.values():
            if worker.plan is not None:
                event = on.CheckpointWritten(worker=worker.id, step=self._progress.step)
                self._around.tell(event)
                return

    def _finish(self, plan: GenerationPlan) -> None:
        self._training = None
        for worker in self._members(plan):
            worker.phase = MemberPhase.FINISHED
            self._around.tell(on.WorkerFinished(worker=worker.id))
            self._leave(worker.id, ExitCode.COMPLETED)

    # -- what they say --------------------------------------------------------------------------

    def _heartbeat(self, worker: SimulatedWorker) -> on.Event:
        is_training = self._training is not None and worker.id in self._training.members
        return on.HeartBeat(
            worker=worker.id,
            place=ScriptPlace.COMPUTING if is_training else ScriptPlace.ELSEWHERE,
            seconds=0.0,
            steps=int(self._progress.generation_steps) if is_training else 0,
        )

    def _pace(self, worker_id: str, plan: GenerationPlan) -> on.Event:
        share = -(-plan.global_batch_size // len(plan.members))
        steps = max(int(ROUND_SECONDS / self._progress.step_seconds), 1)
        pace = WorkerThroughput(
            steps=steps,
            samples=steps * share,
            compute_seconds=steps * share * self._behaviour.sample_seconds,
        )
        return on.PaceTold(worker=worker_id, generation=plan.generation, pace=pace)

    def _members(self, plan: GenerationPlan) -> list[SimulatedWorker]:
        return [self._workers[w] for w in plan.members if w in self._workers]
