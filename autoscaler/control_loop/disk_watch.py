"""How much does each job that runs have on disk? Measured from outside, again and again.

No tick waits for a disk: some threads go through the folders of jobs, a later tick writes down what
they found. Whatever jobs do there, only so many folders are looked into at once, each for so long,
and one that takes long the less often.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final

from cluster.disk_walk import Found, walk
from django.db import OperationalError

from autoscaler.control_loop.patience import is_given_up
from autoscaler.control_loop.shell import Shell
from jobs.lifecycle import ACTIVE, State
from jobs.models import Job

MOST_ASKED: Final = 64  # folders that wait or are looked into; guessed: a second of work, mostly
_WALKERS: Final = 4  # threads, each with one `find`; guessed: what a disk does not mind
_AGAIN_SECONDS: Final = 10.0  # guessed: what a disk fills in meanwhile is 10 to 20 GB
_PAUSES: Final = 20  # times as long as it took: of one job at most a twentieth of the time
_LONGEST_SECONDS: Final = 1800.0  # guessed: two million files at a thousand a second

_log = logging.getLogger(__name__)

Measure = Callable[[Path], Found | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    job_id: str
    found: Found | None
    problem: str  # for admins; empty: there is none
    seconds: float  # that it took


@dataclass(slots=True, kw_only=True)
class DiskWatch:
    """What one process looks into, and has found since; lasts from tick to tick."""

    state_dir: Path
    measure: Measure
    _due_at: dict[str, datetime] = field(default_factory=dict)  # of jobs that were looked at
    _asked: set[str] = field(default_factory=set)
    _problems: dict[str, str] = field(default_factory=dict)  # by job; each is told once
    _questions: SimpleQueue[str] = field(default_factory=SimpleQueue)
    _answers: SimpleQueue[_Answer] = field(default_factory=SimpleQueue)
    _walkers: list[threading.Thread] = field(default_factory=list)

    def go_on(self, shell: Shell) -> None:
        """Write down what was found since the last tick, and have those looked at that are due."""
        with suppress(Empty):
            while True:
                self._take(self._answers.get_nowait(), shell)
        self._ask(shell)

    def _take(self, answer: _Answer, shell: Shell) -> None:
        pause = max(_AGAIN_SECONDS, _PAUSES * answer.seconds)
        self._due_at[answer.job_id] = shell.now + timedelta(seconds=pause)
        self._asked.discard(answer.job_id)
        self._tell_of(answer)
        if answer.found is not None:
            _write_down(answer.job_id, answer.found, shell)

    def _ask(self, shell: Shell) -> None:
        """Those that have waited longest; jobs that ended are not remembered."""
        held = Job.objects.filter(state__in=[*ACTIVE, State.STOPPING])
        ids = set(held.values_list("id", flat=True))
        self._due_at = {job: at for job, at in self._due_at.items() if job in ids}
        self._problems = {job: it for job, it in self._problems.items() if job in ids}
        due = [job for job in ids - self._asked if self._is_due(job, shell)]
        due.sort(key=lambda job: (job in self._due_at, self._due_at.get(job), job))
        for job_id in due[: max(MOST_ASKED - len(self._asked), 0)]:
            self._asked.add(job_id)
            self._questions.put(job_id)
        self._keep_walking()

    def _is_due(self, job_id: str, shell: Shell) -> bool:
        due_at = self._due_at.get(job_id)
        return due_at is None or due_at <= shell.now

    def _keep_walking(self) -> None:
        self._walkers = [thread for thread in self._walkers if thread.is_alive()]
        for _ in range(min(len(self._asked), _WALKERS) - len(self._walkers)):
            thread = threading.Thread(target=self._walk, name="measure-disk", daemon=True)
            thread.start()
            self._walkers.append(thread)

    def _walk(self) -> None:
        """Until nothing is left to be looked into."""
        with suppress(Empty):
            while True:
                self._answers.put(self._answer(self._questions.get_nowait()))

    def _answer(self, job_id: str) -> _Answer:
        began, found, problem = time.monotonic(), None, ""
        try:
            found = self.measure(self.state_dir / "jobs" / job_id)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other jobs are looked at
            problem = repr(error)
        if found is not None and not found.is_whole:
            problem = "only a part of them could be looked at"
        seconds = time.monotonic() - began
        return _Answer(job_id=job_id, found=found, problem=problem, seconds=seconds)

    def _tell_of(self, answer: _Answer) -> None:
        job_id, problem = answer.job_id, answer.problem
        if problem and problem != self._problems.get(job_id):
            extra = {"action": "measure_disk", "job_id": job_id}
            _log.warning("Files of job %s are not measured: %s", job_id, problem, extra=extra)
        self._problems[job_id] = problem


def finder(*, most_files: int) -> Measure:
    """Looks at the real folders."""

    def measure(folder: Path) -> Found | None:
        return walk(folder, most_files=most_files, seconds=_LONGEST_SECONDS)

    return measure


def _write_down(job_id: str, found: Found, shell: Shell) -> None:
    """Only what is new. A row that somebody holds is written after the next look.

    Raises:
        Overtaken: another process holds the lease now.
    """
    facts = {
        "disk_bytes": found.bytes_,
        "disk_files": found.files,
        "has_closed_folder": found.is_closed,
    }
    try:
        with shell.fence.transaction():
            Job.objects.filter(pk=job_id).exclude(**facts).update(**facts)
    except OperationalError as error:
        if not is_given_up(error, job_id=job_id, action="measure_disk"):
            raise
