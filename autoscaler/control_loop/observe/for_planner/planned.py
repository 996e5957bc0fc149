"""What did the planner see of the jobs that only wait? The same values, made of the same views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autoscaler.control_loop.observe.jobs.job_view import JobView
from autoscaler.control_loop.observe.jobs.waiting import memorable
from autoscaler.planning.snapshot.cluster_state import Job


class PlannedMemory:
    """Planning values by job, each with the view that it was made of."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[JobView, Job]] = {}

    def made_of(self, view: JobView) -> Job | None:
        """Return what was made of this very view; None: nothing, or it is remembered no more."""
        made = self._made.get(view.id)
        return made[1] if made and made[0] is view else None

    def remember(self, views: Sequence[JobView], made: Mapping[str, Job]) -> None:
        """Keep what was made of those that only wait, and forget all others."""
        kept = (view for view in memorable(views) if view.id in made)
        self._made = {view.id: (view, made[view.id]) for view in kept}
