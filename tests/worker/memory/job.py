"""A whole job in one process: workers as threads, the real coordinator's mind, groups in memory.

All of the runtime runs but sockets and processes: script, loop, gradients, membership, handover,
recovery, checkpoints, and the state machine that plans. Nothing depends on the clock.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NoReturn

import torch

from concertina_worker.coordinator import events as on
from concertina_worker.coordinator.instructions import ReleaseMember, SendPlan
from concertina_worker.coordinator.knowledge.crew import RETURN_SECONDS
from concertina_worker.coordinator.knowledge.memory import Memory
from concertina_worker.coordinator.machine import Coordination
from concertina_worker.environment import CheckpointRules, Platform, WorkerEnvironment
from concertina_worker.job import ElasticJob
from concertina_worker.membership.membership import WorkerMembership
from concertina_worker.protocol import (
    BatchRules,
    Desired,
    DesiredAction,
    GpuExchange,
    LearningRateScaling,
    MemberPhase,
)
from concertina_worker.training.ending import TrainingEnd
from concertina_worker.training.reporting.progress import ProgressReporter
from concertina_worker.training.reporting.reports import StepClock
from concertina_worker.training.step import CommittedStep
from concertina_worker.wire import ScriptPlace
from tests.worker.memory.audit import AuditedStep, read_audit, that_counted
from tests.worker.memory.group import Rooms
from tests.worker.memory.line import FOREVER, DirectLine, Hesitate
from tests.worker.running_job import wait_for

SEED: Final = 3
JOIN_SECONDS: Final = 180.0

Script = Callable[[ElasticJob, str], Any]
"""Given its job and the worker's name; what it returns is the worker's result."""


class Died(BaseException):
    """Raised in the script of a worker that dies."""


class _Progress(ProgressReporter):
    """Which the test sees as well."""

    def __init__(self, membership: WorkerMembership, committed: list[CommittedStep]) -> None:
        super().__init__(membership)
        self._committed = committed

    def add(self, step: CommittedStep, clock: StepClock) -> None:
        self._committed.append(step)
        super().add(step, clock)


class MemoryJob:
    """Runs one script on workers that come and go."""

    def __init__(
        self,
        folder: Path,
        script: Script,
        *,
        batch_size: int,
        limit: int | None = None,
        checkpoint_seconds: float = FOREVER,
        hesitate: Hesitate = lambda *_: None,
    ) -> None:
        """Nothing runs yet.

        Args:
            folder: for checkpoints, and what the workers write down.
            script: what each worker runs.
            batch_size: of the whole job, at first.
            limit: samples that a worker can compute at once.
            checkpoint_seconds: the time between two checkpoints.
            hesitate: called at every seam.
        """
        self.folder = folder
        self.results: dict[str, Any] = {}  # of workers that came to the end of the script
        self.committed: dict[str, list[CommittedStep]] = {}  # by worker
        self.faults: list[BaseException] = []
        self.happened: Counter[str] = Counter()
        self._script = script
        self._batch_size = batch_size
        self._hesitate = hesitate
        self._limit = limit
        self._checkpoints = CheckpointRules(
            folder=folder / "checkpoints", interval_seconds=checkpoint_seconds, keep_last=2
        )
        self._now = 0.0  # passes only while somebody might come back
        self._machine = Coordination(Memory(), now=self._now)
        self._rooms = Rooms()
        self._lines: dict[str, DirectLine] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._wanted: list[str] = []
        self._revision = self._attempt = 0
        self._lock = threading.RLock()

    # -- what can happen, told from any thread -------------------------------------------------

    def want(self, count: int | None = None, batch_size: int | None = None) -> None:
        """So many workers, the oldest of those wanted so far and new ones; another batch.

        Nothing comes of it once all were told to stop, or have died.
        """
        with self._lock:
            if self.alive and self.is_stopping:
                return
            kept = self._wanted[:count]
            missing = 0 if count is None else count - len(kept)
            self._batch_size = batch_size or self._batch_size
            hired = [f"w{len(self._lines) + number}" for number in range(1, missing + 1)]
            self._desire(DesiredAction.RUN, [*kept, *hired])
            for worker in hired:
                self._start(worker)

    def want_ready(self, count: int, *, seen_by: str) -> None:
        """So many workers, waited for until this one could go on with them."""
        self.want(count)
        wait_for(lambda: self.can_switch(seen_by))

    def want_stop(self) -> None:
        """All leave a checkpoint and go; `run` begins another attempt."""
        with self._lock:
            self._desire(DesiredAction.STOP, [])

    def die(self, worker: str) -> NoReturn:
        """As by SIGKILL, called by its script: its sockets end, and nobody is told."""
        self._lines[worker].direct.fall_silent()
        self._lines[worker].preparations.end()
        raise Died

    @property
    def is_stopping(self) -> bool:
        return not self._wanted

    def run_out_of_memory(self, samples: int) -> None:
        """Some worker did, with so many at once."""
        with self._lock:
            self._tell(on.RanOutOfMemory(worker=self.alive[0], samples=samples))

    @property
    def total_samples(self) -> int | None:
        """As the job's length was told."""
        return self._machine.memory.total_samples

    @property
    def newest_generation(self) -> int:
        """Of the plans that were made."""
        return self._machine.memory.next_generation - 1

    @property
    def alive(self) -> list[str]:
        return [*self._threads]

    @property
    def training(self) -> tuple[str, ...]:
        """The members of the running generation that live, the main worker first."""
        return tuple(w for w in self._machine.memory.active_members if w in self._threads)

    def can_switch(self, worker: str) -> bool:
        """The group of the next plan stands, as far as this worker is concerned."""
        return self._lines[worker].preparations.prepared() is not None

    def place_of(self, worker: str) -> ScriptPlace:
        """As its next heartbeat would say."""
        return ScriptPlace(self._lines[worker].pulse.beat()["place"])

    # -- from beginning to end -----------------------------------------------------------------

    def run(self, workers: int) -> None:
        """As many attempts as it takes, of so many workers at first."""
        while not (self._machine.memory.is_finished or self.faults):
            self._attempt += 1
            self.happened["attempts"] += 1
            self.want(workers)
            while threads := [*self._threads.values()]:
                threads[0].join(JOIN_SECONDS)
                assert not threads[0].is_alive(), f"{threads[0].name} hangs"
        for fault in self.faults:
            raise fault

    def steps(self) -> list[AuditedStep]:
        """Those that led to the result: without what was made again after a checkpoint."""
        return that_counted(self.steps_of())

    def steps_of(self, worker: str = "*") -> list[AuditedStep]:
        """What one worker wrote down, in its order; or all."""
        return read_audit(self.folder / "audit", worker)

    # -- the coordinator -----------------------------------------------------------------------

    def _desire(self, action: DesiredAction, workers: list[str]) -> None:
        self._revision += 1
        self._wanted = workers
        desired = Desired(
            action=action,
            revision=self._revision,
            attempt=self._attempt,
            workers=workers,
            global_batch_size=self._batch_size,
            next_generation=1,
        )
        self._tell(on.DesiredArrived(desired=desired))

    def _tell(self, event: on.Event) -> None:
        with self._lock:
            for instruction in self._machine.handle(event, now=self._now):
                match instruction:
                    case SendPlan(worker=worker, plan=plan):
                        self.happened["recoveries" if plan.is_recovery else "plans"] += 1
                        self._lines[worker].preparations.take(plan)
                    case ReleaseMember(worker=worker, reason=reason):
                        self._lines[worker].direct.release(reason)

    # -- the workers ---------------------------------------------------------------------------

    def _start(self, worker: str) -> None:
        self._lines[worker] = DirectLine(worker, self._rooms, self._tell, self._hesitate)
        self._tell(
            on.WorkerConnected(
                worker=worker,
                attempt=self._attempt,
                phase=MemberPhase.CONNECTED,
                plan=None,
                failed_in=0,
                model_bytes=0,
            )
        )
        self._threads[worker] = threading.Thread(target=self._live, args=(worker,), name=worker)
        self._threads[worker].start()

    def _live(self, worker: str) -> None:
        line = self._lines[worker]
        membership = WorkerMembership(line)
        progress = _Progress(membership, self.committed.setdefault(worker, []))
        ending = TrainingEnd(membership, progress)
        job = ElasticJob(self._environment(worker), membership, torch.device("cpu"), ending)
        try:
            self.results[worker] = self._script(job, worker)
        except SystemExit:
            self.happened["leavers"] += 1
        except Died:
            self.happened["deaths"] += 1
        except BaseException as fault:  # noqa: BLE001 - `run` raises it
            self.faults.append(fault)
        _await_checkpoints()  # of a process that is dead none would be written any more
        with self._lock:
            del self._threads[worker]
            if membership.is_broken or line.is_to_recover(membership.generation):
                line.preparations.end()  # as sockets end with their process
            if self.faults:
                for other in self._lines.values():
                    other.direct.release("the test has failed")
                    other.preparations.end()
            self._tell(on.WorkerDisconnected(worker=worker))
            self._pass_time(RETURN_SECONDS)
            if worker in self._wanted:  # as the service does when a process is gone
                self._desire(DesiredAction.RUN, [one for one in self._wanted if one != worker])

    def _pass_time(self, seconds: float) -> None:
        self._now += seconds
        for worker in self.alive:
            beat = on.HeartBeat(worker=worker, place=ScriptPlace.ELSEWHERE, seconds=0.0, steps=0)
            self._tell(beat)
        self._tell(on.TimePassed())

    def _environment(self, worker: str) -> WorkerEnvironment:
        return WorkerEnvironment(
            gpu_type=None,
            gpus=(),
            gpu_exchange=GpuExchange.GLOO,
            platform=Platform(worker_id=worker, attempt=1, token="", host="", port=0),
            checkpoints=self._checkpoints,
            start=None,
            batch=BatchRules(
                base=8,
                lr_scaling=LearningRateScaling.NONE,
                lr_warmup_steps=0,
                max_per_gpu=self._limit,
            ),
            seed=SEED,
            sample_audit_dir=self.folder / "audit",
            coordinator_lost_seconds=FOREVER,
        )


def _await_checkpoints() -> None:
    for thread in threading.enumerate():
        if thread.name == "concertina_checkpoint" and thread.is_alive():
            thread.join(JOIN_SECONDS)
