"""How are many folders looked into, without anybody who waits for a disk? By a few threads."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final

from cluster.background.background_jobs import BackgroundJobs
from cluster.files.disk_walk import DiskUsage

MOST_PENDING: Final = 64  # folders that wait or are looked into; guessed: a second of work, mostly

Measure = Callable[[Path, float], DiskUsage | None]  # a folder, and the most seconds it may take


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderUsage:
    """What was found in the folder of a job."""

    job_id: str
    found: DiskUsage | None
    problem: str  # for admins; empty: there is none
    seconds: float  # that it took


@dataclass(slots=True, kw_only=True)
class Lane:
    """Some threads, each of which looks into one folder at a time, for so long and no longer."""

    jobs_dir: Path
    measure: Measure
    walkers: int
    longest_seconds: float
    clock: Callable[[], float] = time.monotonic
    pending: set[str] = field(default_factory=set)  # jobs that wait or are looked into
    _questions: SimpleQueue[str] = field(default_factory=SimpleQueue)
    _looks: SimpleQueue[FolderUsage] = field(default_factory=SimpleQueue)
    _background: BackgroundJobs = field(default_factory=lambda: BackgroundJobs(name="measure-disk"))

    def ask(self, job_ids: Collection[str]) -> None:
        """Have them looked into, those that come first, as far as there is room."""
        for job_id in list(job_ids)[: max(MOST_PENDING - len(self.pending), 0)]:
            self.pending.add(job_id)
            self._questions.put(job_id)
        for walker in range(min(len(self.pending), self.walkers)):
            self._background.begin(walker, self._walk)

    def new_looks(self) -> Iterator[FolderUsage]:
        """Yield what was found since the last time."""
        with suppress(Empty):
            while True:
                look = self._looks.get_nowait()
                self.pending.discard(look.job_id)
                yield look

    def _walk(self) -> None:
        """Look into folders until none is left."""
        with suppress(Empty):
            while True:
                self._looks.put(self._look(self._questions.get_nowait()))

    def _look(self, job_id: str) -> FolderUsage:
        began, found, problem = self.clock(), None, ""
        try:
            found = self.measure(self.jobs_dir / job_id, self.longest_seconds)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other jobs are looked at
            problem = repr(error)
        if found is not None and not found.is_whole:
            problem = "only a part of them could be looked at"
        took = self.clock() - began
        return FolderUsage(job_id=job_id, found=found, problem=problem, seconds=took)
