"""Which simulated processes are there, and what does time do to them?"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from cluster.logs.log_files import path_of
from cluster.logs.log_lines import LineLog
from cluster.simulated_host.documents import SimulatedLaunch
from cluster.simulated_host.simulator import behaviour as behaviours
from cluster.simulated_host.simulator.behaviour import BadOptionsError, UnknownCommandError
from cluster.simulated_host.simulator.job_at_large import JobAtLarge
from cluster.simulated_host.simulator.report_counts import ReportCounts
from cluster.worker_host import ProcessRole
from concertina_worker.protocol import ExitCode

_BAD_OPTIONS: Final = 2


@dataclass(slots=True, kw_only=True)
class SimulatedProcess:
    """A worker or a coordinator; kept until it is forgotten."""

    launch: SimulatedLaunch
    started_at: float
    is_deaf: bool = False
    exit_code: int | None = None
    ended_at: float | None = None

    def document(self) -> dict[str, Any]:
        return {
            "labels": asdict(self.launch.labels),
            "node": self.launch.node,
            "started_at": self.started_at,
            "exit_code": self.exit_code,
            "ended_at": self.ended_at,
        }


class SimulatedProcesses:
    """All processes of an installation. Everything happens in one event loop."""

    def __init__(self, state_dir: Path) -> None:
        self.counts = ReportCounts()
        self._state_dir = state_dir
        self._processes: dict[str, SimulatedProcess] = {}
        self._jobs: dict[str, JobAtLarge] = {}

    def start(self, launches: Sequence[SimulatedLaunch]) -> None:
        for launch in launches:
            process_id = launch.labels.process_id
            if process_id not in self._processes:
                process = SimulatedProcess(launch=launch, started_at=time.time())
                self._processes[process_id] = process
                self._begin(process)

    def stop(self, process_id: str, grace_seconds: float) -> bool:
        """Ask it to end; False: there is no such process."""
        process = self._processes.get(process_id)
        if process is None:
            return False
        job = self._jobs.get(process.launch.labels.job_id)
        if process.launch.labels.role is ProcessRole.COORDINATOR:
            self.end(process_id, ExitCode.UNHEARD)
        elif process.is_deaf or (job is not None and job.ask_to_leave(process_id)):
            kill = -int(signal.SIGKILL)
            asyncio.get_running_loop().call_later(grace_seconds, self.end, process_id, kill)
        else:
            self.end(process_id, -int(signal.SIGTERM))
        return True

    def forget(self, process_id: str) -> bool:
        """Drop one that has ended; False: there is no such process."""
        process = self._processes.get(process_id)
        if process is None:
            return False
        if process.ended_at is not None:
            del self._processes[process_id]
            job_id = process.launch.labels.job_id
            self._jobs[job_id].processes.discard(process_id)
            if not self._jobs[job_id].processes:
                self._jobs.pop(job_id).close()
        return True

    def list(self) -> list[dict[str, Any]]:
        return [process.document() for process in self._processes.values()]

    def end(self, process_id: str, exit_code: int) -> None:
        """The process ends with this code, unless it has ended."""
        process = self._processes.get(process_id)
        if process is None or process.ended_at is not None:
            return
        process.exit_code, process.ended_at = exit_code, time.time()
        job = self._jobs[process.launch.labels.job_id]
        if process.launch.labels.role is ProcessRole.COORDINATOR:
            job.lose_coordinator(process_id)
        else:
            job.lose_worker(process_id)

    def write(self, process_id: str, text: str) -> None:
        """The process writes a line of its log."""
        process = self._processes[process_id]
        path = path_of(process_id, job_id=process.launch.labels.job_id, state_dir=self._state_dir)
        log = LineLog(path)
        log.write("stdout", [text.encode()])
        log.close()

    def _begin(self, process: SimulatedProcess) -> None:
        labels = process.launch.labels
        job = self._job(labels.job_id)
        job.processes.add(labels.process_id)
        if labels.role is ProcessRole.COORDINATOR:
            job.take_over(process.launch)
            return
        try:
            behaviour = behaviours.read(process.launch.command)
        except (UnknownCommandError, BadOptionsError) as error:
            self.write(labels.process_id, str(error))
            is_unknown = isinstance(error, UnknownCommandError)
            code = int(ExitCode.COMMAND_NOT_FOUND) if is_unknown else _BAD_OPTIONS
            self.end(labels.process_id, code)
            return
        process.is_deaf = behaviour.deaf
        self.write(labels.process_id, "up")
        job.start_worker(labels.process_id, attempt=labels.attempt, behaviour=behaviour)

    def _job(self, job_id: str) -> JobAtLarge:
        if job_id not in self._jobs:
            self._jobs[job_id] = JobAtLarge(self)
        return self._jobs[job_id]
