"""The real coordinator of a job, without sockets to its workers and without a state file.

What it knows, decides and reports is `concertina_worker.coordinator`'s own. Its workers are in this
process: what they say are events, and its instructions are a call.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from cluster.simulated_host.documents import SimulatedLaunch
from cluster.simulated_host.simulator.report_counts import ReportCounts, RevisionDelivery
from concertina_worker.coordinator.connections.held_call import HttpWaker
from concertina_worker.coordinator.connections.server import Server
from concertina_worker.coordinator.connections.service import HttpService, ReplacedError
from concertina_worker.coordinator.connections.synchronising import Synchroniser
from concertina_worker.coordinator.instructions import Instruction
from concertina_worker.coordinator.knowledge.memory import Memory
from concertina_worker.coordinator.machine import Coordination
from concertina_worker.coordinator.state_file import StateFile, taken_over
from concertina_worker.protocol import Desired, Env, ExitCode, SyncReport

_NOWHERE: Final = Path("/nonexistent")


class SimulatedCoordinator:
    """One term of a job's coordinator."""

    def __init__(
        self,
        launch: SimulatedLaunch,
        *,
        before: Memory | None,
        obey: Callable[[Instruction], None],
        counts: ReportCounts,
    ) -> None:
        """Take over from `before`, what the coordinator of an earlier term knew."""
        env = launch.env
        start = int(env.get(Env.START, 0))
        self.memory = Memory(start=start) if before is None else taken_over(before, start=start)
        coordination = Coordination(
            self.memory, now=time.time(), term=int(env.get(Env.COORDINATOR_TERM, 0))
        )
        self.workers_end = _InProcess(coordination, obey=obey)
        service = _CountedService(
            counts, url=env[Env.SERVICE_URL], job_id=env[Env.JOB_ID], token=env[Env.SERVICE_TOKEN]
        )
        waker = _NotedWaker(
            url=env[Env.SERVICE_URL], job_id=env[Env.JOB_ID], token=lambda: service.token
        )
        service.waker = waker
        self._service = service
        self._synchroniser = Synchroniser(coordination, self.workers_end, service, waker)

    async def run(self) -> int:
        """Report until the job is over; return the exit code."""
        try:
            await self._synchroniser.run()
        except ReplacedError:
            return ExitCode.REPLACED
        finally:
            self._service.close()
        return ExitCode.COMPLETED


class _CountedService(HttpService):
    """Counts reports, and notes when the job heard of something new."""

    def __init__(self, counts: ReportCounts, *, url: str, job_id: str, token: str) -> None:
        super().__init__(url=url, job_id=job_id, token=token)
        self._counts = counts
        self._job_id = job_id
        self._revision = 0
        self.waker: _NotedWaker | None = None

    def sync(self, report: SyncReport) -> Desired:
        began, asked_at = time.monotonic(), time.time()
        try:
            desired = super().sync(report)
        except Exception as error:
            self._counts.note_failure(str(error) or type(error).__name__)
            raise
        self._counts.note_answer(time.monotonic() - began)
        if desired["revision"] > self._revision > 0:  # the first is as old as its coordinator
            self._counts.note_news(
                RevisionDelivery(
                    job_id=self._job_id,
                    revision=desired["revision"],
                    woken_at=self.waker.woken_at if self.waker else 0.0,
                    asked_at=asked_at,
                    told_at=time.time(),
                )
            )
        self._revision = desired["revision"]
        return desired


class _NotedWaker(HttpWaker):
    """Notes when it was woken."""

    woken_at = 0.0

    async def is_woken(self, *, heard_seconds: float) -> bool:
        is_woken = await super().is_woken(heard_seconds=heard_seconds)
        if is_woken:
            self.woken_at = time.time()
        return is_woken


class _InProcess(Server):
    """The workers' end of a coordinator whose workers are in its own process."""

    def __init__(self, coordination: Coordination, *, obey: Callable[[Instruction], None]) -> None:
        super().__init__(coordination, _NoFile(), token="")
        self._obey = obey

    def _carry_out(self, instruction: Instruction) -> None:
        self._obey(instruction)


class _NoFile(StateFile):
    """Memory is kept by whoever holds the coordinator."""

    def __init__(self) -> None:
        self._folder = _NOWHERE

    def save(self, memory: Memory) -> None:
        """Nothing: it is not lost when a coordinator is killed."""
