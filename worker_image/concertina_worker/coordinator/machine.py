"""Who trains together from now on? A state machine: events in, instructions out.

No sockets, no clock, no files: the process around it feeds `handle`, stores `memory`, and only
then carries out what came back.
"""

from __future__ import annotations

from collections.abc import Hashable

from concertina_worker.coordinator.decisions import choice as choosing
from concertina_worker.coordinator.decisions.deciding import Decisions
from concertina_worker.coordinator.events import Event
from concertina_worker.coordinator.instructions import Instruction
from concertina_worker.coordinator.knowledge.crew import Crew
from concertina_worker.coordinator.knowledge.memory import Memory
from concertina_worker.coordinator.knowledge.report_size import within_bounds
from concertina_worker.coordinator.stragglers import Speeds
from concertina_worker.coordinator.updates.state_update import StateUpdate
from concertina_worker.protocol import SyncReport, WorkerReport


class Coordination:
    """The coordinator's mind: what it knows (`memory`, `crew`) and what follows from it."""

    def __init__(self, memory: Memory, *, now: float, term: int = 0) -> None:
        self.memory = memory
        self._term = term
        self.crew = Crew()
        self._speeds = Speeds()
        self._started_at = now
        self.sees_foreign_group = False  # of workers that do not register: see `foreign_group`
        self._update = StateUpdate(memory, self.crew, self._speeds, now=now)
        self._decisions = Decisions(memory, self.crew)

    def handle(self, event: Event, *, now: float) -> list[Instruction]:
        """Take note of an event; return what is to be done because of it, in order."""
        return self._update.note(event, now=now) + self._decisions.decide()

    @property
    def is_over(self) -> bool:
        """True once nothing will happen any more: the job is over, and all workers left.

        After a takeover those that trained may be on their way back: they have yet to be told.
        """
        if self.crew.connected():
            return False
        return self.memory.is_finished or (
            choosing.is_stopping(self.memory) and not self._awaits_members
        )

    @property
    def _awaits_members(self) -> bool:
        return any(worker not in self.crew for worker in self.memory.planned_workers)

    def news(self) -> Hashable:
        """Return what the service should hear at once when it changes: somebody may wait for it.

        Numbers that always move (progress, speeds) come with the next report. A first step time of
        a configuration is news: it decides how many workers the job gets.
        """
        memory = self.memory
        return (
            (memory.is_registered, memory.is_finished, self.is_over, self.sees_foreign_group),
            (memory.total_samples, memory.batch_limit, memory.checkpoint_step),
            memory.desired["revision"] if memory.desired else 0,
            memory.active.generation if memory.active else 0,
            len(memory.warnings),
            tuple(one["number"] for one in memory.reports.generations),
            frozenset(
                (one["workers"], one["global_batch_size"]) for one in memory.reports.measurements
            ),
            self.crew.standing(),
            self._speeds.stragglers(),
        )

    def sync_report(self) -> SyncReport:
        memory = self.memory
        report: SyncReport = {
            "coordinator_started_at": self._started_at,
            "term": self._term,
            "registered": memory.is_registered,
            "model_bytes": memory.model_bytes,
            "total_samples": memory.total_samples,
            "revision": memory.desired["revision"] if memory.desired else 0,
            "generation": memory.active.generation if memory.active else 0,
            "workers": self._worker_reports(),
            "generations": list(memory.reports.generations),
            "metrics": list(memory.reports.metrics),
            "measurements": list(memory.reports.measurements),
            "checkpoint_step": memory.checkpoint_step,
            "process_group": self.sees_foreign_group,
            "warnings": list(memory.warnings),
            "finished": memory.is_finished,
        }
        if memory.noise_scale is not None:
            report["noise_scale"] = memory.noise_scale
        if memory.batch_limit is not None:
            report["batch_limit"] = memory.batch_limit
        return within_bounds(report)

    def _worker_reports(self) -> list[WorkerReport]:
        reports = self.crew.reports()
        for report in reports:
            self._speeds.tell(report)
        return reports
