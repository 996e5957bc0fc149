"""A real job for a test: a coordinator and workers as processes, beside a twin of the service."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from concertina_worker.protocol import BatchRules, Env, GenerationReport
from tests.ports import free_port
from tests.worker import stack_dump
from tests.worker.service_twin import ServiceTwin
from tests.worker.worker_zygote import (
    BRIEFLY,
    WorkerProcess,
    WorkerZygote,
    python_path,
)

TOKEN: Final = "token-of-the-job"
_TWO_LINES_BYTES: Final = 400
SCRIPTS: Final = Path(__file__).parent / "scripts"
SCRIPT: Final = SCRIPTS / "regression.py"
PATIENCE_SECONDS: Final = 120.0


class RunningJob:
    """Everything one job consists of; `close` leaves no process behind."""

    def __init__(
        self,
        folder: Path,
        zygote: WorkerZygote,
        *,
        script: Path = SCRIPT,
        script_arguments: tuple[str, ...] = (),
        batch: BatchRules | None = None,
        checkpoint_seconds: float = 60.0,
        coordinator_lost_seconds: float = 600.0,
        gpus: tuple[str, ...] = (),
        environment: Mapping[str, str] | None = None,
        ends_briefly: bool = True,
    ) -> None:
        """`gpus` are dealt out to the workers in turn, by their UUIDs.

        How its workers end is told in `brief_end`.
        """
        self.folder = folder
        self._zygote = zygote
        self.service = ServiceTwin(TOKEN)
        self.script = script
        self.script_arguments = script_arguments
        if script == SCRIPT:
            outputs = ("--out", str(folder / "out"), "--stop-file", str(folder / "stop"))
            self.script_arguments = (*outputs, *script_arguments)
        self.batch = batch
        self.gpus = gpus
        self._extra_environment = {**(BRIEFLY if ends_briefly else {}), **(environment or {})}
        self.checkpoint_seconds = checkpoint_seconds
        self.coordinator_lost_seconds = coordinator_lost_seconds
        self._stopped = folder / "stopped"
        self._coordinator = (str(SCRIPTS / "patient_coordinator.py"), str(self._stopped))
        self.processes: dict[str, WorkerProcess] = {}
        self.coordinators: list[WorkerProcess] = []
        self.port = free_port()
        self._started = 0

    # -- doing ---------------------------------------------------------------------------------

    def start_coordinator(self, *arguments: str) -> None:
        """Without arguments the product's own, but patient; else a program of the tests."""
        environment = {**self._environment(), **BRIEFLY}
        argv = [*(arguments or self._coordinator)]
        self.coordinators.append(self._zygote.start(argv, environment, self._log("coordinator")))

    def start_workers(self, count: int, *extra_arguments: str, attempt: int = 0) -> list[str]:
        """Start processes; they train once `want` names them."""
        names = []
        for _ in range(count):
            self._started += 1
            name = f"w{self._started}"
            argv = [str(self.script), *self.script_arguments, *extra_arguments]
            environment = {
                **self._environment(),
                Env.WORKER_ID: name,
                "CUDA_VISIBLE_DEVICES": self._gpu_of_newest(),
                Env.ATTEMPT: str(attempt or self.service.desired["attempt"]),
            }
            self.processes[name] = self._zygote.start(argv, environment, self._log(name))
            names.append(name)
        return names

    def run_cold(self, worker: str, *extra_arguments: str) -> int:
        """Run a worker as an interpreter of its own, as where nothing waits warm; its exit code."""
        with self._log(worker).open("ab") as output:
            return subprocess.run(
                [sys.executable, str(self.script), *self.script_arguments, *extra_arguments],
                env={**os.environ, **self._environment(), Env.WORKER_ID: worker, Env.ATTEMPT: "1"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
                timeout=PATIENCE_SECONDS,
            ).returncode

    def resize(self, count: int, *, batch: int = 20) -> None:
        """Want this many workers: keep the oldest, start what is missing."""
        current = [w for w in self.service.desired["workers"] if self.processes[w].poll() is None]
        missing = max(0, count - len(current))
        self.service.want(current[:count] + self.start_workers(missing), batch)

    def begin_attempt(self, count: int, *, batch: int = 20) -> None:
        """New workers for a job that has none (any more).

        Only the first begins with the weights of seed 1; the others must take them from it.
        """
        attempt = self.service.desired["attempt"] + 1
        workers = self.start_workers(1, "--model-seed", "1", attempt=attempt)
        workers += self.start_workers(count - 1, attempt=attempt)
        self.service.want(workers, batch, new_attempt=True)

    def doom(self, worker: str, moment: str, *, passing: int = 1, way: str = "die") -> None:
        """Let a worker whose script was given `--doom` fail at one of `dooms.MOMENTS`."""
        folder = self.folder / "dooms"
        folder.mkdir(exist_ok=True)
        half_written = folder / f".{worker}"
        half_written.write_text(json.dumps({"moment": moment, "passing": passing, "way": way}))
        half_written.replace(folder / worker)

    def kill_coordinator(self) -> None:
        self.coordinators[-1].kill()
        self.coordinators[-1].wait()

    def kill(self, worker: str) -> None:
        self.processes[worker].kill()

    def stop(self, worker: str) -> None:
        """It sends no heartbeat any more, for which the coordinator is to give it up."""
        self.processes[worker].signal(signal.SIGSTOP)
        self._stopped.write_text(worker)

    def play(self, body: Callable[[GenerationReport], int | None]) -> None:
        """Let `body` see each generation and answer how many workers it wants next; None: enough.

        Every generation makes a few steps before `body` is asked.
        """
        count: int | None = len(self.service.desired["workers"])
        while count is not None:
            generation = self.wait_for_workers(count)
            self.wait_for_steps(4)
            count = body(generation)
            if count is not None:
                self.resize(count)
        self.end()

    def end(self) -> None:
        """Let the script end after the epoch it is in."""
        (self.folder / "stop").touch()
        self.wait_until_finished()

    # -- waiting -------------------------------------------------------------------------------

    def wait(
        self, what: str, condition: Callable[[], Any], *, seconds: float = PATIENCE_SECONDS
    ) -> Any:
        """Wait for a condition; the logs tell why it did not come about."""
        deadline = time.monotonic() + seconds
        while not (value := condition()):
            if time.monotonic() > deadline:
                stack_dump.ask(
                    process.pid for process in self._everything() if process.poll() is None
                )
                raise AssertionError(f"waited in vain until {what}\n{self.logs()}")
            with self.service.changed:
                self.service.changed.wait(0.05)
        return value

    def wait_until_it_listens(self) -> None:
        self.wait("the coordinator listens", lambda: "Listening" in self.log_of("coordinator"))

    def wait_for_workers(self, count: int) -> GenerationReport:
        """Until a generation of this many workers has fulfilled what is desired."""

        def newest() -> GenerationReport | None:
            fits = [
                generation
                for generation in self.service.generations
                if len(generation["workers"]) == count
                and generation["revision"] == self.service.desired["revision"]
            ]
            return fits[-1] if fits else None

        generation: GenerationReport = self.wait(f"{count} workers train", newest)
        return generation

    def wait_for_steps(self, count: int) -> int:
        """Until the job has made this many more steps."""
        target = self.step + count
        self.wait(f"step {target}", lambda: self.step >= target)
        return self.step

    def wait_until_finished(self) -> None:
        for name, process in self.processes.items():
            self.wait(f"{name} ends", lambda process=process: process.poll() is not None)
        self.wait("the coordinator ends", lambda: self.coordinator_code is not None)

    # -- looking -------------------------------------------------------------------------------

    @property
    def step(self) -> int:
        """Newest committed step of any worker."""
        files = (self.folder / "audit").glob("*.jsonl")
        return max((_last_step(path) for path in files), default=0)

    @property
    def next_worker(self) -> str:
        """The name of the worker that will be started next."""
        return f"w{self._started + 1}"

    @property
    def members(self) -> list[str]:
        """Of the newest generation that was reported, in rank order."""
        return self.service.generations[-1]["workers"]

    @property
    def coordinator_code(self) -> int | None:
        """Of the newest coordinator; None while it runs."""
        return self.coordinators[-1].poll()

    def exit_codes(self) -> dict[str, int | None]:
        return {name: process.poll() for name, process in self.processes.items()}

    def audit_lines(self) -> list[dict[str, Any]]:
        files = sorted((self.folder / "audit").glob("*.jsonl"))
        return [json.loads(line) for path in files for line in path.read_text().splitlines()]

    def result(self, worker: str) -> dict[str, Any]:
        return read_result(self.folder / "out", worker)

    def assert_every_sample_once(self, *, epochs: int, samples: int = 97) -> None:
        """Steps follow each other, all workers agree on them, and they tile every epoch."""
        steps = {
            (line["step"], line["epoch"], line["start"], line["stop"])
            for line in self.audit_lines()
        }
        assert [step for step, *_ in sorted(steps)] == list(range(1, len(steps) + 1))
        for epoch in range(epochs):
            ranges = sorted((start, stop) for _, e, start, stop in steps if e == epoch)
            assert [start for start, _ in ranges] == [0, *(stop for _, stop in ranges[:-1])]
            assert ranges[-1][1] == samples
        assert {epoch for _, epoch, *_ in steps} == set(range(epochs))

    def assert_nobody_aborted(self) -> None:
        """A thread inside PyTorch must not outlive the interpreter: that aborts the process."""
        aborted = [name for name, code in self.exit_codes().items() if code == -signal.SIGABRT]
        assert not aborted, self.logs()

    def checkpoints(self) -> list[Path]:
        """Complete ones, oldest first."""
        return sorted((self.folder / "checkpoints").glob("step-*.pt"))

    def log_of(self, name: str) -> str:
        return self._log(name).read_text()

    def logs(self) -> str:
        files = sorted((self.folder / "logs").glob("*"))
        return "\n".join(f"--- {path.name}\n{path.read_text()[-8000:]}" for path in files)

    def close(self) -> None:
        everything = self._everything()
        for process in everything:
            process.kill()
        for process in everything:
            process.wait()
        self.service.close()

    # -- processes -----------------------------------------------------------------------------

    def _everything(self) -> list[WorkerProcess]:
        return [*self.processes.values(), *self.coordinators]

    def _gpu_of_newest(self) -> str:
        return self.gpus[(self._started - 1) % len(self.gpus)] if self.gpus else ""

    def _log(self, name: str) -> Path:
        log = self.folder / "logs" / f"{name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        return log

    def _environment(self) -> dict[str, str]:
        environment = {
            Env.JOB_ID: "job1",
            Env.TOKEN: TOKEN,
            Env.COORDINATOR: f"127.0.0.1:{self.port}",
            Env.SERVICE_URL: self.service.url,
            Env.STATE_DIR: str(self.folder / "coordinator"),
            Env.COORDINATOR_TERM: str(self.service.term),
            Env.CHECKPOINT_DIR: str(self.folder / "checkpoints"),
            Env.CHECKPOINT_INTERVAL_SECONDS: str(self.checkpoint_seconds),
            Env.COORDINATOR_LOST_SECONDS: str(self.coordinator_lost_seconds),
            Env.SAMPLE_AUDIT_DIR: str(self.folder / "audit"),
            Env.SEED: "3",
            "PYTHONPATH": python_path(),
            **self._extra_environment,
        }
        if self.batch is not None:
            environment[Env.BATCH] = json.dumps(self.batch)
        return environment


def alone_environment() -> dict[str, str]:
    return {Env.SEED: "3", "CUDA_VISIBLE_DEVICES": ""}


def read_result(folder: Path, worker: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / f"{worker}.json").read_text())
    return document


def wait_for(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _last_step(audit: Path) -> int:
    """Of a file that may be long; the last line may be half written."""
    with audit.open("rb") as file:
        file.seek(max(0, audit.stat().st_size - _TWO_LINES_BYTES))
        lines = file.read().split(b"\n")
    return int(json.loads(lines[-2])["step"]) if len(lines) > 1 and lines[-2] else 0
