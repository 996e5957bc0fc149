"""How does one worker stand at this moment, and the node that it is on?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from cluster.worker_host import ObservedProcess, ProcessPhase

from autoscaler.reconciling.endings import WorkerEnding, ending_of
from jobs.worker_phase import WorkerPhase


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSnapshot:
    """The node that a worker or a coordinator is on."""

    name: str
    silent_since: datetime | None = None  # None: it answers
    silent_reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSnapshot:
    """One worker: what is on record of it, and its process if the host lists one."""

    id: str
    node: NodeSnapshot
    created_at: datetime
    phase: WorkerPhase = WorkerPhase.STARTING
    gone_at: datetime | None = None
    exit_code: int | None = None
    failing: str = ""  # a `Failing`, or what another release called so
    error: str = ""
    counted_revision: int | None = None  # the assignment under which its end was counted
    silence_notice_at: datetime | None = None  # when people heard that its node does not answer
    is_given_up: bool = False
    is_straggler: bool = False
    process: ObservedProcess | None = None
    is_being_started: bool = False  # this tick has ordered its process, which is not listed yet

    @property
    def is_gone(self) -> bool:
        return self.phase is WorkerPhase.GONE

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.phase is ProcessPhase.RUNNING

    @property
    def is_there(self) -> bool:
        """It runs, or is about to."""
        return self.process is not None and self.process.phase is not ProcessPhase.EXITED

    @property
    def is_missing(self) -> bool:
        """Its process was not there when the tick began, and has not been ordered since."""
        return self.process is None and not self.is_being_started

    @property
    def is_unheard(self) -> bool:
        """Its node does not answer: nobody can tell how it is."""
        return self.process is None and self.node.silent_since is not None

    @property
    def has_registered(self) -> bool:
        """Its script called the library, and is warm or further."""
        return self.phase in {WorkerPhase.READY, WorkerPhase.TRAINING, WorkerPhase.LEAVING}

    @property
    def ending(self) -> WorkerEnding | None:
        """Return how it ended; None while it is not gone."""
        return ending_of(self.exit_code, self.failing) if self.is_gone else None


def ids(workers: Iterable[WorkerSnapshot]) -> list[str]:
    return [worker.id for worker in workers]
