"""What did the planner see of each job last? The same value, where the job is as it was then.

What is remembered may be lost at any time: then it is made again of the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from autoscaler.control_loop.observe.for_planner.planned_job import (
    JobMeasurements,
    as_it_stands,
    as_measured,
    as_moved,
)
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.observe.jobs.memory import memorable
from autoscaler.planning.snapshot.cluster_state import PlannedJob
from jobs.lifecycle import JobState

# may be paused after all
_CHANGES_WITH_TIME: Final = frozenset({JobState.STARTING, JobState.RESCALING})
_NEVER: Final = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlannedBefore:
    """What was made of a job, and of what."""

    likeness: object
    past: JobMeasurements
    job: PlannedJob
    turn: int  # in which it was looked into


class PlannedMemory:
    """Planning values by job, each with what it was made of."""

    def __init__(self) -> None:
        self._known: dict[str, _PlannedBefore] = {}
        self._new: dict[str, _PlannedBefore] = {}
        self._turn = _NEVER + 1

    def planned(self, view: LiveJob, past: JobMeasurements, now: datetime) -> PlannedJob:
        """See `planned_job`, of which no more is made than has changed."""
        known, turn = self._as_it_is(view), self._turn
        if known is None:
            job = as_measured(as_it_stands(view, now), view, past)
        elif known.past == past:
            job, turn = as_moved(known.job, view), known.turn
        else:
            job = as_measured(known.job, view, past)
        self._new[view.id] = _PlannedBefore(likeness=view.likeness, past=past, job=job, turn=turn)
        return job

    def is_known(self, view: LiveJob, past: JobMeasurements) -> bool:
        """True if there is nothing new to be looked into."""
        known = self._as_it_is(view)
        return known is not None and known.past == past

    def as_seen_last(self, view: LiveJob) -> PlannedJob | None:
        """The job with what moves, where only what is measured is new; None: it is another now."""
        known = self._as_it_is(view)
        if known is None:
            return None
        job = as_moved(known.job, view)
        self._new[view.id] = replace(known, job=job)
        return job

    def turn_of(self, view: LiveJob) -> int:
        """Tell when it was looked into last: the less, the longer ago."""
        known = self._known.get(view.id)
        return known.turn if known and known.likeness is view.likeness else _NEVER

    def forget_all_but(self, views: Sequence[LiveJob]) -> None:
        """Keep what was made of these since the last time, as far as there is room for it."""
        kept = (view.id for view in memorable(views))
        self._known = {job_id: self._new[job_id] for job_id in kept if job_id in self._new}
        self._new = {}
        self._turn += 1

    def _as_it_is(self, view: LiveJob) -> _PlannedBefore | None:
        known = self._known.get(view.id)
        is_as_it_was = known and known.likeness is view.likeness
        return known if is_as_it_was and view.state not in _CHANGES_WITH_TIME else None
