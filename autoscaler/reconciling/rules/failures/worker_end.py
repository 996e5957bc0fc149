"""How did a worker end, and how is that said?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from cluster.worker_host import Failing, LogLine

from autoscaler.reconciling.assessments import last_words, signs_of_life
from autoscaler.reconciling.endings import (
    NEVER_RAN,
    WorkerEnding,
    described,
    ending_of,
    killed_for_memory,
)
from autoscaler.reconciling.questions import LastLines, MemoryLimit
from autoscaler.reconciling.snapshot import JobSnapshot
from autoscaler.reconciling.words import silence_of
from autoscaler.reconciling.worker_snapshot import WorkerSnapshot
from concertina_worker.protocol import ExitCode

_TELLING: Final = {
    WorkerEnding.FAILED,
    WorkerEnding.CANNOT_RUN,
    WorkerEnding.LOST,
    WorkerEnding.ENDED_EARLY,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerEnd:
    """A worker, and the last lines that it wrote, where they tell something of its end."""

    worker: WorkerSnapshot
    log: tuple[LogLine, ...] = ()

    @property
    def exit_code(self) -> int | None:
        return self.worker.process.exit_code if self.worker.process else None

    @property
    def failing(self) -> Failing | None:
        return self.worker.process.failing if self.worker.process else None

    @property
    def ending(self) -> WorkerEnding:
        return ending_of(self.exit_code, self.failing or "")

    @property
    def ran_out_of_memory(self) -> bool:
        """The kernel killed it, or a part of it that it could not do without."""
        return self.failing is Failing.OUT_OF_MEMORY and self.ending is WorkerEnding.LOST

    @property
    def error(self) -> str:
        """What to keep of it on the worker."""
        if self.ending is WorkerEnding.ENDED_EARLY:
            return last_words.ours(self.log)
        if self.ending in NEVER_RAN:
            return self.worker.process.note if self.worker.process else ""
        return last_words.telling(self.log)

    @property
    def lived_at(self) -> datetime | None:
        """Return until when a script lived that reports nothing; without a coordinator it waited.

        The last words of one that failed tell how it failed: only its run counts.
        """
        process = self.worker.process
        if process is None or process.ended_at is None:
            return None
        if self.exit_code == ExitCode.COORDINATOR_LOST:
            return None
        wrote = self.log[-1].at if self.log and self.ending is WorkerEnding.LOST else None
        return signs_of_life.of_run(began=process.started_at, ended=process.ended_at, wrote=wrote)


def end_of(worker: WorkerSnapshot, job: JobSnapshot) -> WorkerEnd:
    """Its end, with its last lines if they are of use and its node answers."""
    end = WorkerEnd(worker=worker)
    if end.ending not in _TELLING or worker.is_unheard:
        return end
    return WorkerEnd(worker=worker, log=job.answer_to(LastLines(worker.id, last_words.LINES_READ)))


def sentence(end: WorkerEnd, job: JobSnapshot) -> str:
    worker = end.worker
    if worker.is_unheard:
        return f"{worker.id} counts as lost: {silence_of(worker.node)}."
    if end.ending in NEVER_RAN:
        return not_started(worker.id, end.error)
    if end.ran_out_of_memory:
        return killed_for_memory(worker.id, job.answer_to(MemoryLimit(worker.id)))
    return ended_with(worker.id, end.exit_code, end.error)


def ended_with(worker_id: str, exit_code: int | None, error: str) -> str:
    return f"{worker_id} ended with {described(exit_code)}{f': {error}' if error else '.'}"


def not_started(worker_id: str, why: str) -> str:
    return f"{worker_id} could not be started: {why}"
