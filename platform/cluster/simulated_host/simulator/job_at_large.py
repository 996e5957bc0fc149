"""What surrounds the workers of one job? Their coordinator in its terms, time, and processes."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable
from typing import Protocol

from cluster.simulated_host.documents import SimulatedLaunch
from cluster.simulated_host.simulator.behaviour import Behaviour
from cluster.simulated_host.simulator.coordinator import SimulatedCoordinator
from cluster.simulated_host.simulator.job import ROUND_SECONDS, SimulatedJob
from cluster.simulated_host.simulator.report_counts import ReportCounts
from concertina_worker.coordinator import events as on
from concertina_worker.coordinator.instructions import Instruction
from concertina_worker.coordinator.knowledge.memory import Memory

CRASHED = 1  # exit code of a coordinator that raised

_log = logging.getLogger(__name__)


class Processes(Protocol):
    """Where the processes of a job are."""

    counts: ReportCounts

    def end(self, process_id: str, exit_code: int) -> None:
        """End one."""

    def write(self, process_id: str, text: str) -> None:
        """Write a line of its log."""


class JobAtLarge:
    """One job with its coordinator."""

    def __init__(self, world: Processes) -> None:
        self.processes: set[str] = set()  # that are not forgotten
        self._world = world
        self._loop = asyncio.get_running_loop()
        self._workers: SimulatedJob | None = None
        self._coordinator: SimulatedCoordinator | None = None
        self._coordinator_id = ""
        self._reporting: asyncio.Task[None] | None = None
        self._memory: Memory | None = None  # of the newest coordinator
        self._is_closed = False
        self.later(ROUND_SECONDS * random.random(), self._pass_round)  # noqa: S311 - not all at once

    # -- what happens to it ----------------------------------------------------------------------

    def take_over(self, launch: SimulatedLaunch) -> None:
        """Start a coordinator; one of an earlier term goes on until the service refuses it."""
        coordinator = SimulatedCoordinator(
            launch, before=self._memory, obey=self._obey, counts=self._world.counts
        )
        self._coordinator, self._memory = coordinator, coordinator.memory
        self._coordinator_id = launch.labels.process_id
        self._reporting = self._loop.create_task(self._report(coordinator, self._coordinator_id))
        if self._workers is not None:
            self._workers.meet_coordinator()

    def lose_coordinator(self, process_id: str) -> None:
        if process_id == self._coordinator_id:
            self._coordinator = None
            if self._reporting is not None:
                self._reporting.cancel()

    def start_worker(self, worker_id: str, *, attempt: int, behaviour: Behaviour) -> None:
        if self._workers is None:
            self._workers = SimulatedJob(behaviour, self)
        self._workers.start(worker_id, attempt=attempt)

    def ask_to_leave(self, worker_id: str) -> bool:
        """True if the worker takes time for it."""
        is_led = self._coordinator is not None
        return is_led and self._workers is not None and self._workers.ask_to_leave(worker_id)

    def lose_worker(self, worker_id: str) -> None:
        if self._workers is not None:
            self._workers.has_ended(worker_id)

    def close(self) -> None:
        """Nothing is left of it."""
        self._is_closed = True
        self.lose_coordinator(self._coordinator_id)

    # -- what its workers ask for ----------------------------------------------------------------

    def now(self) -> float:
        return time.time()

    def later(self, seconds: float, what: Callable[[], None]) -> None:
        self._loop.call_later(seconds, what)

    def end(self, process_id: str, exit_code: int) -> None:
        self._world.end(process_id, exit_code)

    def write(self, process_id: str, text: str) -> None:
        self._world.write(process_id, text)

    def tell(self, event: on.Event) -> None:
        if self._coordinator is not None:
            self._coordinator.workers_end.handle(event)

    # -- in detail -------------------------------------------------------------------------------

    def _obey(self, instruction: Instruction) -> None:
        if self._workers is not None:
            self._workers.hear(instruction)

    def _pass_round(self) -> None:
        if not self._is_closed:
            self.later(ROUND_SECONDS, self._pass_round)
            if self._workers is not None:
                self._workers.pass_round()

    async def _report(self, coordinator: SimulatedCoordinator, process_id: str) -> None:
        try:
            exit_code = await coordinator.run()
        except Exception:  # noqa: BLE001 - one coordinator's end is not that of all the others
            _log.exception("A coordinator crashed action=end process=%s", process_id)
            exit_code = CRASHED
        if self._coordinator is coordinator:
            self._coordinator = None
        self._world.end(process_id, exit_code)
