"""A time that is due becomes a run, and its schedule moves on to the next, in one transaction.

Nothing is submitted here. So a schedule that cannot be submitted, or takes long, is not due again
in each round, and what was due is known whoever dies next.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import Window
from django.db.models.functions import RowNumber
from tenancy.models import Team
from webhooks.shapes import SCHEDULE_PAUSED, SCHEDULE_REFUSED

from schedules import changing, due_times, telling
from schedules.errors import BadCron
from schedules.models import RunState, ScheduleRun, TeamSchedule

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class DueNow:
    """Which times were due, and when the next one is."""

    due_at: datetime  # the last that counts, or the first that was missed
    is_missed: bool  # all of them were
    left_out: bool  # earlier ones
    next_at: datetime | None


def due(now: datetime, most: int) -> Sequence[tuple[str, datetime]]:
    """Return which schedules are due and since when: of each team the first, then the next."""
    turns = Window(RowNumber(), partition_by="team_id", order_by=["next_at", "id"])
    found = TeamSchedule.objects.filter(next_at__lte=now).annotate(turn=turns)
    ordered = found.order_by("turn", "next_at", "id")[:most]
    return [(pk, since) for pk, since in ordered.values_list("pk", "next_at") if since is not None]


def record(schedule_id: str, seen: datetime, now: datetime) -> bool:
    """Write down that it was due, and when it is due next; False: somebody else is at it.

    It takes three statements.
    """
    with transaction.atomic():
        held = TeamSchedule.objects.select_for_update(skip_locked=True, no_key=True)
        schedule = held.filter(pk=schedule_id, next_at=seen).first()
        if schedule is None:
            return False
        try:
            found = due_of(schedule, now)
        except Exception as error:  # noqa: BLE001 - as of a zone that is gone: it would stay due
            _log.exception("Nobody can tell when schedule %s is due.", schedule_id)
            known = isinstance(error, BadCron)
            _stop(schedule, str(error) if known else "Nobody can tell when it is due.", now)
            return False
        _write(schedule, found, now)
        if found.next_at is None:
            _stop(schedule, "It is never due any more.", now)
        else:
            TeamSchedule.objects.filter(pk=schedule.pk).update(next_at=found.next_at)
    return True


def due_of(schedule: TeamSchedule, now: datetime) -> DueNow:
    """Return what of a schedule that is due counts. Of times that were missed, at most the last."""
    cron, zone, first = schedule.cron, schedule.time_zone, schedule.next_at or now
    counts, since = first, now - schedule.most_late
    is_late = first < since
    # From just before the deadline on: it looks at a day of times at most.
    moments = due_times.iterate(since if is_late else first, cron, zone)
    is_missed = is_late
    for moment in moments:
        if moment > now:
            return DueNow(
                due_at=counts,
                is_missed=is_missed,
                left_out=counts != first,
                next_at=moment,
            )
        counts, is_missed = moment, False
    return DueNow(due_at=counts, is_missed=is_missed, left_out=counts != first, next_at=None)


def _write(schedule: TeamSchedule, found: DueNow, now: datetime) -> None:
    message = ""
    if found.is_missed:
        message = "The service was away when it was due, and for too long after."
        kept = Team.objects.get(pk=schedule.team_id)
        schedule.team = kept
        telling.tell(schedule, SCHEDULE_REFUSED, message, now)
    elif found.left_out:
        message = "The service was away: times before this one were left out."
    run = ScheduleRun(
        schedule=schedule,
        due_at=found.due_at,
        state=RunState.MISSED if found.is_missed else RunState.WAITING,
        message=message,
        try_at=now,
        ended_at=now if found.is_missed else None,
    )
    ScheduleRun.objects.bulk_create([run], ignore_conflicts=True)  # a clock may go back


def _stop(schedule: TeamSchedule, why: str, now: datetime) -> None:
    schedule.team = Team.objects.get(pk=schedule.team_id)
    changing.set_paused(schedule, f"Paused itself: {why}")
    telling.tell(schedule, SCHEDULE_PAUSED, schedule.paused_because, now)
    extra = {"action": "schedules", "schedule": schedule.id}
    _log.warning("Schedule %s paused itself: %s", schedule.id, why, extra=extra)
