"""Which jobs need not be looked at in this tick? Those at rest, while they are as they were then.

What is remembered may be lost at any time: then they are looked at once more.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.reconciling.rest import rests_until
from autoscaler.reconciling.snapshot import JobSnapshot


class RestMemory:
    """Remembers until when jobs have nothing to be done, by what they were like then."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[object, datetime]] = {}
        self._limits: object = None  # under which it was found

    def restless(self, views: Iterable[LiveJob], context: TickContext) -> list[LiveJob]:
        """Return those that have to be looked at, and forget all that are not among these."""
        limits, now = _limits(context), context.now
        known = self._known if limits == self._limits else {}
        self._known, self._limits = {}, limits
        restless = []
        for view in views:
            found = known.get(view.id)
            if found is not None and found[0] is view.likeness and now < found[1]:
                self._known[view.id] = found
            else:
                restless.append(view)
        return restless

    def is_at_rest(self, view: LiveJob, job: JobSnapshot) -> bool:
        """True if no rule has anything to do, which is remembered."""
        until = rests_until(job)
        if until is None or job.context.now >= until:
            return False
        self._known[view.id] = (view.likeness, until)
        return True


def _limits(context: TickContext) -> object:
    """What holds for many jobs: where it is another, all of them are looked at once more."""
    filled = [
        (team, disk.is_near, disk.is_full)
        for team in context.around.teams
        if (disk := context.team_disk(team)) is not None and disk.is_near
    ]
    pausing = [
        team
        for team in context.around.teams
        if (budget := context.used_up_budget(team)) is not None and budget.pauses
    ]
    return context.limits, context.disk_limits, filled, pausing
