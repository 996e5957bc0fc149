"""What did the planner see of each job last? The same value, where the job is as it was then.

What is remembered may be lost at any time: then it is made again of the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from autoscaler.control_loop.observe.for_planner.planned_job import (
    Past,
    as_it_stands,
    as_measured,
    as_moved,
)
from autoscaler.control_loop.observe.jobs.job_view import JobView
from autoscaler.control_loop.observe.jobs.memory import memorable
from autoscaler.planning.snapshot.cluster_state import Job
from jobs.lifecycle import State

_CHANGES_WITH_TIME: Final = frozenset({State.STARTING, State.RESCALING})  # may be paused after all


class PlannedMemory:
    """Planning values by job, each with what it was made of."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[object, Past, Job]] = {}
        self._new: dict[str, tuple[object, Past, Job]] = {}

    def planned(self, view: JobView, past: Past, now: datetime) -> Job:
        """See `planned_job`, of which no more is made than has changed."""
        known = self._known.get(view.id)
        if not known or known[0] is not view.likeness or view.state in _CHANGES_WITH_TIME:
            job = as_measured(as_it_stands(view, now), view, past)
        elif known[1] == past:
            job = as_moved(known[2], view)
        else:
            job = as_measured(known[2], view, past)
        self._new[view.id] = (view.likeness, past, job)
        return job

    def forget_all_but(self, views: Sequence[JobView]) -> None:
        """Keep what was made of these since the last time, as far as there is room for it."""
        kept = (view.id for view in memorable(views))
        self._known = {job_id: self._new[job_id] for job_id in kept if job_id in self._new}
        self._new = {}
