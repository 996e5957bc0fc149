"""Which jobs wait until their team has room on the disk again? They neither start nor fetch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autoscaler.control_loop.arriving.telling import tell
from autoscaler.control_loop.observe.jobs.job_view import JobView
from autoscaler.control_loop.outside.arrival import Arrival
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.job_vocabulary import JobReason


def without_room(views: Sequence[JobView], context: TickContext) -> Mapping[str, Arrival]:
    """Return by job what it waits for; it is told."""
    waiting = [view for view in views if view.is_queued]
    found = {
        view.id: Arrival(note=f"{disk.said()} {disk.remedy()}", waits_as=JobReason.TEAM_DISK_FULL)
        for view in waiting
        if (disk := context.team_disk(view.job.team_id)) is not None and disk.is_full
    }
    tell(waiting, found, context)
    return found
