"""How much does each job that runs have on disk? Measured from outside, again and again.

One that has ended is measured once more, and again when some of it was removed.

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
from cluster.files.disk_walk import DiskUsage, walk
from django.db import OperationalError
from django.db.models import Value
from django.db.models.functions import Coalesce, Greatest

from autoscaler.control_loop.database_timeouts import is_given_up
from autoscaler.control_loop.housekeeping.disk_lane import MOST_PENDING, FolderUsage, Lane, Measure
from autoscaler.control_loop.housekeeping.team_disks import TeamDisks, held_disks
from autoscaler.control_loop.tick_context import TickContext
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
    _ended: set[str] = field(default_factory=set)  # of those that are asked for
    _teams: TeamDisks = field(default_factory=TeamDisks)
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

    def go_on(self, context: TickContext, *, lighter: Collection[str] = ()) -> None:
        """Write down what was found since the last tick, and have those looked at that are due.

        Of jobs that are `lighter` something was just removed: a look into them may have seen it.
        """
        self._ended.difference_update(lighter)
        for lane in (self.quick, self.slow):
            for look in lane.new_looks():
                self._take(look, context, is_quick=lane is self.quick)
        held = held_disks()
        self._teams.go_on(held, context)
        self._ask({disk.job_id for disk in held}, context)

    def _take(self, look: FolderUsage, context: TickContext, *, is_quick: bool) -> None:
        is_slow = look.seconds >= _QUICK_SECONDS
        pause = 0.0 if is_slow and is_quick else _AGAIN_SECONDS
        self._due_at[look.job_id] = context.now + timedelta(seconds=pause)
        if is_slow:
            self._are_slow.add(look.job_id)
        else:
            self._are_slow.discard(look.job_id)
        goes_on_slowly = is_slow and is_quick
        if not goes_on_slowly:
            self._tell_of(look)
        is_last = look.job_id in self._ended and not goes_on_slowly
        if is_last or look.found is not None:
            _write_down(look, context, is_last=is_last)

    def _ask(self, held: set[str], context: TickContext) -> None:
        """Ask for the jobs that have waited longest; forget those that need no more looks."""
        pending = self.quick.pending | self.slow.pending
        self._ended = (self._ended & pending) | _to_be_looked_into_at_last(pending)
        ids = held | self._ended
        self._due_at = {job: at for job, at in self._due_at.items() if job in ids}
        self._told.keep(ids)
        self._are_slow &= ids
        due = [job for job in ids - pending if self._is_due(job, context)]
        due.sort(key=lambda job: (job in self._due_at, self._due_at.get(job), job))
        self.quick.ask([job for job in due if job not in self._are_slow])
        self.slow.ask([job for job in due if job in self._are_slow])

    def _is_due(self, job_id: str, context: TickContext) -> bool:
        due_at = self._due_at.get(job_id)
        return due_at is None or due_at <= context.now

    def _tell_of(self, look: FolderUsage) -> None:
        job_id, problem = look.job_id, look.problem
        if self._told.is_new(job_id, problem):
            extra = {"action": "measure_disk", "job_id": job_id}
            _log.warning("Files of job %s are not measured: %s", job_id, problem, extra=extra)


def finder(*, most_files: int) -> Measure:
    """Looks at the real folders."""

    def measure(folder: Path, seconds: float) -> DiskUsage | None:
        return walk(folder, most_files=most_files, seconds=seconds)

    return measure


def _to_be_looked_into_at_last(pending: Collection[str]) -> set[str]:
    """Return jobs that have ended, or lost files since, and were not looked into again."""
    found = Job.objects.filter(finished_at__isnull=False, kept_bytes=None).exclude(pk__in=pending)
    return set(found.order_by("finished_at").values_list("pk", flat=True)[:MOST_PENDING])


def _write_down(look: FolderUsage, context: TickContext, *, is_last: bool) -> None:
    """Only what is new, and of a look that was not finished only what is more than was known.

    A row that somebody holds is written after the next look.

    Raises:
        LeaseLost: another process holds the lease now.
    """
    facts = _facts(look)
    if is_last:
        facts["kept_bytes"] = facts.get("disk_bytes", Coalesce("disk_bytes", Value(0)))
    try:
        with context.fence.transaction():
            Job.objects.filter(pk=look.job_id).exclude(**facts).update(**facts)
    except OperationalError as error:
        if not is_given_up(error, job_id=look.job_id, action="measure_disk"):
            raise


def _facts(look: FolderUsage) -> dict[str, Any]:
    """What is known by now; nothing, where nobody could look."""
    if look.found is None:
        return {} if look.problem else {"disk_bytes": 0, "disk_files": 0}  # the folder is gone
    facts: dict[str, Any] = {
        "disk_bytes": look.found.bytes_,
        "disk_files": look.found.files,
        "has_closed_folder": look.found.is_closed,
    }
    if not look.found.is_whole:
        facts = {name: Greatest(name, Value(value)) for name, value in facts.items()}
    return facts
