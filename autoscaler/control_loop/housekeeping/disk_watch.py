"""How much does each job that runs have on disk? Measured from outside, again and again.

One that has ended is measured once more when somebody deleted some of it.

No tick waits for a disk: some threads go through the folders of jobs, a later tick writes down what
they found. Jobs whose files take long to be counted are in a lane of their own, so that they keep
none of the others from being measured.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from cluster.background.told_once import ToldOnce
from cluster.files.disk_walk import Found, walk
from django.db import OperationalError
from django.db.models import Value
from django.db.models.functions import Greatest

from autoscaler.control_loop.housekeeping.disk_lane import Lane, Look, Measure
from autoscaler.control_loop.patience import is_given_up
from autoscaler.control_loop.tick_context import TickContext
from jobs.lifecycle import ACTIVE, State
from jobs.models import Job

_AGAIN_SECONDS: Final = 10.0  # guessed: what a disk fills in meanwhile is 10 to 20 GB
_QUICK_SECONDS: Final = 10.0  # whoever takes longer goes to the slow lane, there to be finished
_WALKERS: Final = 2  # of each lane, each with one `find`; guessed: what a disk does not mind
_LONGEST_SECONDS: Final = 1800.0  # guessed: two million files at a thousand a second

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class DiskWatch:
    """Looks into jobs' folders; remembers what it found from tick to tick."""

    quick: Lane
    slow: Lane
    _due_at: dict[str, datetime] = field(default_factory=dict)  # of jobs that were looked at
    _are_slow: set[str] = field(default_factory=set)
    _once_more: set[str] = field(default_factory=set)  # also of jobs that have ended
    _told: ToldOnce = field(default_factory=ToldOnce)  # of jobs

    @classmethod
    def over(
        cls, state_dir: Path, measure: Measure, *, clock: Callable[[], float] = time.monotonic
    ) -> DiskWatch:
        """Make the watch of all jobs whose folders are in this state folder."""
        quick, slow = (
            Lane(
                jobs_dir=state_dir / "jobs",
                measure=measure,
                walkers=_WALKERS,
                longest_seconds=seconds,
                clock=clock,
            )
            for seconds in (_QUICK_SECONDS, _LONGEST_SECONDS)
        )
        return cls(quick, slow)

    def go_on(self, context: TickContext, *, changed: Collection[str] = ()) -> None:
        """Write down what was found since the last tick, and have those looked at that are due.

        `changed` are jobs of which somebody deleted files.
        """
        self._once_more |= {*changed}
        for lane in (self.quick, self.slow):
            for look in lane.new_looks():
                self._take(look, context, is_quick=lane is self.quick)
        self._ask(context)

    def _take(self, look: Look, context: TickContext, *, is_quick: bool) -> None:
        is_slow = look.seconds >= _QUICK_SECONDS
        pause = 0.0 if is_slow and is_quick else _AGAIN_SECONDS
        self._due_at[look.job_id] = context.now + timedelta(seconds=pause)
        self._once_more.discard(look.job_id)
        if is_slow:
            self._are_slow.add(look.job_id)
        else:
            self._are_slow.discard(look.job_id)
        if not (is_slow and is_quick):
            self._tell_of(look)
        if look.found is not None:
            _write_down(look.job_id, look.found, context)

    def _ask(self, context: TickContext) -> None:
        """Ask for the jobs that have waited longest; those that ended are forgotten."""
        held = Job.objects.filter(state__in=[*ACTIVE, State.STOPPING])
        ids = set(held.values_list("id", flat=True))
        ids |= self._once_more
        self._due_at = {job: at for job, at in self._due_at.items() if job in ids}
        self._told.keep(ids)
        self._are_slow &= ids
        due = [
            job
            for job in ids - self.quick.pending - self.slow.pending
            if self._is_due(job, context)
        ]
        due.sort(key=lambda job: (job in self._due_at, self._due_at.get(job), job))
        self.quick.ask([job for job in due if job not in self._are_slow])
        self.slow.ask([job for job in due if job in self._are_slow])

    def _is_due(self, job_id: str, context: TickContext) -> bool:
        due_at = self._due_at.get(job_id)
        return due_at is None or due_at <= context.now

    def _tell_of(self, look: Look) -> None:
        job_id, problem = look.job_id, look.problem
        if self._told.is_new(job_id, problem):
            extra = {"action": "measure_disk", "job_id": job_id}
            _log.warning("Files of job %s are not measured: %s", job_id, problem, extra=extra)


def finder(*, most_files: int) -> Measure:
    """Looks at the real folders."""

    def measure(folder: Path, seconds: float) -> Found | None:
        return walk(folder, most_files=most_files, seconds=seconds)

    return measure


def _write_down(job_id: str, found: Found, context: TickContext) -> None:
    """Only what is new, and of a look that was not finished only what is more than was known.

    A row that somebody holds is written after the next look.

    Raises:
        Overtaken: another process holds the lease now.
    """
    facts: dict[str, Any] = {
        "disk_bytes": found.bytes_,
        "disk_files": found.files,
        "has_closed_folder": found.is_closed,
    }
    if not found.is_whole:
        facts = {name: Greatest(name, Value(value)) for name, value in facts.items()}
    try:
        with context.fence.transaction():
            Job.objects.filter(pk=job_id).exclude(**facts).update(**facts)
    except OperationalError as error:
        if not is_given_up(error, job_id=job_id, action="measure_disk"):
            raise
