"""When did each job make steps, and did two workers ever hold one GPU? Looked at all the time."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Final

import psutil

from local_stack.chaos.checks import invariants
from local_stack.chaos.observation.beside import beside
from local_stack.chaos.observation.processes import JobProcess

STEPS_EVERY_SECONDS: Final = 0.1
PROCESSES_EVERY_SECONDS: Final = 1.0


class Watcher:
    """A thread beside the faults."""

    def __init__(self, job_processes: Callable[[], list[JobProcess]]) -> None:
        """Look at those processes again and again."""
        self._job_processes = job_processes
        self._steps: dict[Path, list[float]] = {}  # when, by the folder of the job's records
        self._shared: set[str] = set()
        self._processes_at = 0.0  # when to look at them next

    def watching(self) -> AbstractContextManager[None]:
        return beside(self._look, every_seconds=STEPS_EVERY_SECONDS)

    def follow(self, folder: Path) -> None:
        """The workers of one job write their steps down there."""
        self._steps = {**self._steps, folder: self._steps.get(folder, [])}

    def newest_step_at(self, folder: Path) -> float:
        steps = self._steps.get(folder)
        return steps[-1] if steps else 0.0

    def longest_standstill(self, folder: Path, *, since: float) -> float:
        """The longest time between two steps of which the later came after that moment."""
        return longest_gap(self._steps.get(folder, []), since=since)

    @property
    def shared_gpus(self) -> frozenset[str]:
        """A sentence for each GPU that two workers held."""
        return frozenset(self._shared)

    def _look(self) -> None:
        for folder, steps in self._steps.items():
            self._note_newest(folder, steps)
        if time.monotonic() >= self._processes_at:
            self._processes_at = time.monotonic() + PROCESSES_EVERY_SECONDS
            self._shared.update(self._shared_now())

    def _note_newest(self, folder: Path, steps: list[float]) -> None:
        times = [moment for path in folder.glob("*.jsonl") if (moment := _written_at(path))]
        if times and (not steps or max(times) > steps[-1]):
            steps.append(max(times))

    def _shared_now(self) -> set[str]:
        """Looked at twice: while we looked first, one may have ended and the next one begun."""
        seen = self._job_processes()
        if not set(invariants.of_shared_gpus(seen)):
            return set()
        return set(invariants.of_shared_gpus([one for one in seen if _lives(one)]))


def longest_gap(moments: list[float], *, since: float) -> float:
    gaps = (later - earlier for earlier, later in pairwise(moments) if later > since)
    return max(gaps, default=0.0)


def _lives(one: JobProcess) -> bool:
    try:
        return one.lives
    except psutil.Error:
        return False


def _written_at(path: Path) -> float:
    with suppress(FileNotFoundError):
        found = path.stat()
        return found.st_mtime if found.st_size else 0.0
    return 0.0
