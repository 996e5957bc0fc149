"""A run that waits is submitted, in the name of whoever answers for its schedule."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import F, Window
from django.db.models.functions import RowNumber

from jobs.admission.pool_capacity import PoolCapacity
from jobs.commands.submission import SubmissionResult
from jobs.errors import JobsError
from schedules import holders, reading, submitting
from schedules.errors import ReplacesForeignJobs, ScheduleNotFound, StillRuns
from schedules.holders import MayNotSubmit
from schedules.models import Overlap, RunState, ScheduleRun
from schedules.rounds import endings

MOST_ATTEMPTS: Final = 8
_FIRST_REST: Final = timedelta(seconds=30)
_LONGEST_REST: Final = timedelta(minutes=15)
_log: Final = logging.getLogger(__name__)


class _NotWantedNow(Exception):
    """The schedule does not want this time to be submitted any more; the message says why."""


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
    elif now > run.due_at + schedule.most_late:
        seconds = int(schedule.most_late.total_seconds())
        words = f"It could not be submitted within {seconds} s of its time."
        endings.without_job(run, RunState.MISSED, words, now)
    elif run.attempts > MOST_ATTEMPTS:
        words = "The service failed to submit it, again and again. Its log tells why."
        endings.without_job(run, RunState.FAILED, words, now)
    else:
        _submit(run, pools, now)


def _submit(run: ScheduleRun, pools: Sequence[PoolCapacity], now: datetime) -> None:
    try:
        made = _made(run, pools)
    except ScheduleNotFound:
        return  # its run is gone, too
    except MayNotSubmit as lost:
        endings.without_job(run, RunState.REFUSED, f"{lost}.", now, pauses=True)
    except (StillRuns, _NotWantedNow) as skipped:
        endings.without_job(run, RunState.SKIPPED, str(skipped), now)
    except (JobsError, ReplacesForeignJobs) as refused:
        endings.without_job(run, RunState.REFUSED, str(refused), now)
    else:
        endings.submitted(run, made.made, now)


@transaction.atomic
def _made(run: ScheduleRun, pools: Sequence[PoolCapacity]) -> SubmissionResult:
    """Submit what the schedule says at this very moment; nobody changes it until that is done.

    Raises: ScheduleNotFound, _NotWantedNow, MayNotSubmit; as `submitting.submit_for`.
    """
    schedule = reading.held(run.schedule)
    if schedule.is_paused:
        raise _NotWantedNow("It was paused meanwhile.")
    if schedule.overlap == Overlap.REPLACE and _is_outdated(run):
        raise _NotWantedNow("A later time was due meanwhile, whose job it would have replaced.")
    principal = holders.principal_now(schedule)
    return submitting.submit_for(schedule, due_at=run.due_at, principal=principal, pools=pools)


def _is_outdated(run: ScheduleRun) -> bool:
    later = ScheduleRun.objects.filter(schedule=run.schedule_id, due_at__gt=run.due_at)
    return later.filter(asked_by="").exists()


def _claim(run: ScheduleRun, now: datetime) -> bool:
    """Say that it is tried now, and when next if this fails; False: it is gone, or another's."""
    rest = min(_FIRST_REST * 2**run.attempts, _LONGEST_REST)
    seen = ScheduleRun.objects.filter(pk=run.pk, state=RunState.WAITING, try_at=run.try_at)
    if not seen.update(attempts=F("attempts") + 1, try_at=now + rest):
        return False
    run.attempts += 1
    return True
