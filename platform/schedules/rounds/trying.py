"""A run that waits is submitted, in the name of whoever answers for its schedule."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from django.db.models import F, Window
from django.db.models.functions import RowNumber

from jobs.admission.pool_capacity import PoolCapacity
from jobs.errors import JobsError
from schedules import holders, submitting
from schedules.errors import ReplacesForeignJobs, StillRuns
from schedules.holders import MayNotSubmit
from schedules.models import RunState, ScheduleRun
from schedules.rounds import endings

MOST_ATTEMPTS: Final = 8
_FIRST_REST: Final = timedelta(seconds=30)
_LONGEST_REST: Final = timedelta(minutes=15)
_log: Final = logging.getLogger(__name__)


def waiting(now: datetime, most: int) -> Sequence[ScheduleRun]:
    """Return runs that wait: of each team the first, then the next; tried ones come last."""
    turns = Window(
        RowNumber(),
        partition_by="schedule__team_id",
        order_by=["attempts", "try_at", "id"],
    )
    found = ScheduleRun.objects.filter(state=RunState.WAITING, try_at__lte=now)
    ordered = found.annotate(turn=turns).order_by("turn", "attempts", "try_at", "id")
    return list(ordered.select_related("schedule__team")[:most])


def attempt(run: ScheduleRun, pools: Sequence[PoolCapacity], now: datetime) -> None:
    """Submit it, once: that it is tried is written down before, so that it comes first no more.

    What is not known to be wrong with the request is raised, and tried again later.
    """
    if not _claim(run, now):
        return
    schedule = run.schedule
    made = submitting.made_for(schedule, run.due_at) if run.attempts > 1 else ()
    if made:  # whoever submitted it did not come to say so
        endings.submitted(run, made, now)
    elif schedule.is_paused:
        endings.without_job(run, RunState.SKIPPED, "It was paused meanwhile.", now)
    elif now > run.due_at + timedelta(seconds=schedule.start_within):
        words = f"It could not be submitted within {schedule.start_within} s of its time."
        endings.without_job(run, RunState.MISSED, words, now)
    elif run.attempts > MOST_ATTEMPTS:
        words = "The service failed to submit it, again and again. Its log tells why."
        endings.without_job(run, RunState.FAILED, words, now)
    else:
        _submit(run, pools, now)


def _submit(run: ScheduleRun, pools: Sequence[PoolCapacity], now: datetime) -> None:
    schedule = run.schedule
    try:
        principal = holders.principal_now(schedule)
        made = submitting.submit_for(schedule, due_at=run.due_at, principal=principal, pools=pools)
    except MayNotSubmit as lost:
        endings.without_job(run, RunState.REFUSED, f"{lost}.", now, pauses=True)
    except StillRuns as skipped:
        endings.without_job(run, RunState.SKIPPED, str(skipped), now)
    except (JobsError, ReplacesForeignJobs) as refused:
        endings.without_job(run, RunState.REFUSED, str(refused), now)
    else:
        endings.submitted(run, made.made, now)


def _claim(run: ScheduleRun, now: datetime) -> bool:
    """Say that it is tried now, and when next if this fails; False: it is gone, or another's."""
    rest = min(_FIRST_REST * 2**run.attempts, _LONGEST_REST)
    seen = ScheduleRun.objects.filter(pk=run.pk, state=RunState.WAITING, try_at=run.try_at)
    if not seen.update(attempts=F("attempts") + 1, try_at=now + rest):
        return False
    run.attempts += 1
    return True
