"""Which jobs wait until their team has room on the disk again? They neither start nor fetch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autoscaler.control_loop.arriving.telling import tell
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.outside.arrival import StartPrerequisite
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.job_vocabulary import JobReason


def without_room(views: Sequence[LiveJob], context: TickContext) -> Mapping[str, StartPrerequisite]:
    """Return by job what it waits for; it is told."""
    waiting = [view for view in views if view.is_queued]
    found = {
        view.id: StartPrerequisite(
            note=f"{disk.said()} {disk.remedy()}", waits_as=JobReason.TEAM_DISK_FULL
        )
        for view in waiting
        if (disk := context.team_disk(view.job.team_id)) is not None and disk.is_full
    }
    tell(waiting, found, context)
    return found
