"""When are runs forgotten, and what of a schedule stays that nobody else refers to?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any, Final

from django.db import connection
from django.db.models import OuterRef, QuerySet, Subquery
from django.utils import timezone

from schedules.models import RunState, ScheduleRun, TeamSchedule

MOST_OF_ONE: Final = 100  # runs of a schedule that are kept
KEPT_FOR: Final = timedelta(days=400)
_KEEP_CODE: Final = """
    UPDATE storage_codesnapshot snapshot SET used_at = now() FROM schedules_teamschedule schedule
    WHERE schedule.code <> '' AND snapshot.team_id = schedule.team_id
        AND snapshot.digest = schedule.code AND snapshot.used_at < now() - interval '1 hour'
"""


def delete_old(*, erase: Callable[[QuerySet[Any]], int]) -> Mapping[str, int]:
    """Delete runs that are old, or beyond so many of a schedule, in bounded batches."""
    ended = [erase(rows.exclude(state=RunState.WAITING)) for rows in _crowds()]
    old = ScheduleRun.objects.filter(recorded_at__lt=timezone.now() - KEPT_FOR)
    return {"schedule_runs": sum(ended) + erase(old.exclude(state=RunState.WAITING))}


def keep_code() -> None:
    """Keep snapshots of code young that schedules will submit again, in one statement.

    What nobody refers to for a day goes; this is done every few minutes.
    """
    with connection.cursor() as cursor:
        cursor.execute(_KEEP_CODE)


def _crowds() -> Iterator[QuerySet[ScheduleRun]]:
    """Yield for each schedule that has more than so many what came before those."""
    newest = ScheduleRun.objects.filter(schedule=OuterRef("pk"))
    since = Subquery(newest.values("due_at")[MOST_OF_ONE - 1 : MOST_OF_ONE])
    crowded = TeamSchedule.objects.annotate(since=since).filter(since__isnull=False)
    for schedule, since_then in crowded.values_list("pk", "since"):
        yield ScheduleRun.objects.filter(schedule=schedule, due_at__lt=since_then)
