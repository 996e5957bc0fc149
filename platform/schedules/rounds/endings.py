"""How does a run end, and what does that mean for its schedule?"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from django.db import transaction
from webhooks.shapes import SCHEDULE_PAUSED, SCHEDULE_REFUSED

from schedules import changing, telling
from schedules.asking import MOST_NAMED
from schedules.models import RunState, ScheduleRun, TeamSchedule

MOST_FAILURES: Final = 5  # in a row, then a schedule pauses itself
_LONGEST_MESSAGE: Final = 1000
_FAILURES: Final = frozenset({RunState.REFUSED, RunState.FAILED})
_log: Final = logging.getLogger(__name__)


def submitted(run: ScheduleRun, made: Sequence[tuple[str, str]], now: datetime) -> None:
    """Note the jobs that a run became; two statements."""
    with transaction.atomic():
        TeamSchedule.objects.filter(pk=run.schedule_id, failures__gt=0).update(failures=0)
        _end(
            run,
            RunState.SUBMITTED,
            run.message,
            now,
            jobs=list(made[:MOST_NAMED]),
            job_count=len(made),
        )


def without_job(
    run: ScheduleRun, state: RunState, message: str, now: datetime, *, pauses: bool = False
) -> None:
    """Note that a run became no job, and why; the team is told, unless it was skipped.

    After some in a row that were refused, or at once if it `pauses`, the schedule pauses itself.
    """
    message = message[:_LONGEST_MESSAGE]
    with transaction.atomic():
        # The schedule is held before its runs, as by who deletes it.
        held = (
            TeamSchedule.objects.select_for_update(no_key=True).filter(pk=run.schedule_id).first()
        )
        if held is None or not _end(run, state, message, now):
            return  # somebody deleted it at this moment
        if state == RunState.SKIPPED:
            return
        held.team = run.schedule.team
        if state in _FAILURES:
            held.failures += 1
            TeamSchedule.objects.filter(pk=held.pk).update(failures=held.failures)
        telling.tell(held, SCHEDULE_REFUSED, message, now)
        if (pauses or held.failures >= MOST_FAILURES) and not held.is_paused:
            _pause(held, message, now, failures=0 if pauses else held.failures)


def _end(
    run: ScheduleRun,
    state: RunState,
    message: str,
    now: datetime,
    *,
    jobs: Sequence[object] = (),
    job_count: int = 0,
) -> bool:
    waiting = ScheduleRun.objects.filter(pk=run.pk, state=RunState.WAITING)
    changed = waiting.update(
        state=state, message=message, jobs=[*jobs], job_count=job_count, ended_at=now
    )
    return changed == 1


def _pause(held: TeamSchedule, message: str, now: datetime, *, failures: int) -> None:
    often = f" after {failures} runs in a row that became no job; the last one" if failures else ""
    changing.set_paused(held, f"Paused itself{often}: {message}")
    remedy = "Whoever resumes it answers for it from then on."
    telling.tell(held, SCHEDULE_PAUSED, f"{held.paused_because} {remedy}", now)
    extra = {"action": "schedules", "schedule": held.id}
    _log.warning("Schedule %s paused itself: %s", held.id, message, extra=extra)
