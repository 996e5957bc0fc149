"""What a coordinator is told, as a short story: a verb for each thing that can happen to it."""

from __future__ import annotations

from dataclasses import dataclass, field

from concertina_worker.coordinator import events as on
from concertina_worker.coordinator.events import Event
from concertina_worker.coordinator.instructions import HangUp, Instruction, ReleaseMember, SendPlan
from concertina_worker.coordinator.knowledge.crew import RETURN_SECONDS
from concertina_worker.coordinator.knowledge.memory import Memory
from concertina_worker.coordinator.machine import Coordination
from concertina_worker.plan import GenerationPlan
from concertina_worker.protocol import (
    Desired,
    DesiredAction,
    GenerationReport,
    MemberPhase,
    MetricReport,
)
from concertina_worker.wire import ScriptPlace


@dataclass(slots=True)
class Story:
    """Tells a coordinator what happens, and remembers what it answered."""

    coordination: Coordination = field(default_factory=lambda: Coordination(Memory(), now=0.0))
    now: float = 0.0
    desired: Desired = field(
        default_factory=lambda: {
            "action": DesiredAction.RUN,
            "revision": 0,
            "attempt": 1,
            "workers": [],
            "global_batch_size": 32,
            "next_generation": 1,
        }
    )
    answers: list[Instruction] = field(default_factory=list)

    def tell(self, *events: Event) -> Story:
        self.answers = []
        for event in events:
            self.answers += self.coordination.handle(event, now=self.now)
        return self

    def want(self, *workers: str, batch: int = 32) -> Story:
        self.desired = {
            **self.desired,
            "revision": self.desired["revision"] + 1,
            "workers": list(workers),
            "global_batch_size": batch,
        }
        return self.tell(on.DesiredArrived(desired=self.desired))

    def want_stop(self) -> Story:
        self.desired = {**self.desired, "action": DesiredAction.STOP}
        return self.tell(on.DesiredArrived(desired=self.desired))

    def connect(self, *workers: str, attempt: int = 1) -> Story:
        return self.tell(*(hello(worker, attempt=attempt) for worker in workers))

    def ready(self, *workers: str) -> Story:
        return self.tell(*(on.WorkerReady(worker=worker, model_bytes=8) for worker in workers))

    def switch(self, *workers: str, step: int = 0) -> Story:
        generation = self.plan.generation
        return self.tell(
            *(on.WorkerSwitched(worker=w, generation=generation, step=step) for w in workers)
        )

    def disconnect(self, *workers: str) -> Story:
        return self.tell(*(on.WorkerDisconnected(worker=worker) for worker in workers))

    def lose(self, *workers: str) -> Story:
        """They do not come back in time."""
        said = self.disconnect(*workers).answers
        self.now += RETURN_SECONDS
        self.answers = said + self.tell(on.TimePassed()).answers
        return self

    def beat(
        self,
        *workers: str,
        place: ScriptPlace = ScriptPlace.WAITING,
        seconds: float = 0.0,
        steps: int = 9,
    ) -> Story:
        """Heartbeats of workers whose main thread has been at a place for so long."""
        return self.tell(
            *(on.HeartBeat(worker=w, place=place, seconds=seconds, steps=steps) for w in workers)
        )

    def pass_time(
        self, seconds: float, *alive: str, place: ScriptPlace = ScriptPlace.WAITING
    ) -> Story:
        """The coordinator looks four times a second; those alive send their heartbeats."""
        said: list[Instruction] = []
        for quarter in range(round(seconds * 4)):
            self.now += 0.25
            beats = self.beat(*alive, place=place).answers if quarter % 4 == 3 else []
            said += beats + self.tell(on.TimePassed()).answers
        self.answers = said
        return self

    def train(self, *workers: str) -> Story:
        """From nothing to a generation of these workers."""
        self.want(*workers).connect(*workers).ready(*workers)
        return self.switch(*workers)

    def take_over(self) -> Story:
        """A new process with the old one's memory."""
        memory = Memory.from_json(self.coordination.memory.to_json())
        memory.desired = None
        self.coordination = Coordination(memory, now=self.now)
        return self

    @property
    def plan(self) -> GenerationPlan:
        """The newest plan ever published."""
        memory = self.coordination.memory
        plan = memory.pending or memory.active
        assert plan is not None
        return plan

    @property
    def planned(self) -> set[str]:
        """Who was sent the newest plan in the last answer."""
        return {
            answer.worker
            for answer in self.answers
            if isinstance(answer, SendPlan) and answer.plan == self.plan
        }

    @property
    def given_up(self) -> set[str]:
        return {answer.worker for answer in self.answers if isinstance(answer, HangUp)}

    @property
    def released(self) -> set[str]:
        return {answer.worker for answer in self.answers if isinstance(answer, ReleaseMember)}

    @property
    def generations(self) -> list[GenerationReport]:
        return self.coordination.sync_report()["generations"]


def hello(
    worker: str,
    *,
    attempt: int = 1,
    phase: MemberPhase = MemberPhase.CONNECTED,
    plan: GenerationPlan | None = None,
    failed_in: int = 0,
) -> on.WorkerConnected:
    return on.WorkerConnected(
        worker=worker, attempt=attempt, phase=phase, plan=plan, failed_in=failed_in, model_bytes=8
    )


def progress(worker: str, *, step: int) -> on.ProgressMade:
    metric: MetricReport = {
        "at": float(step),
        "generation": 1,
        "step": step,
        "epoch": 0.0,
        "samples": 0,
        "samples_per_second": 0.0,
        "step_seconds": 0.5,
        "compute_seconds": 0.0,
        "communication_seconds": 0.0,
        "local_batch_size": 1,
        "learning_rate": 0.1,
        "values": {},
    }
    return on.ProgressMade(worker=worker, metric=metric, measurement=None)
