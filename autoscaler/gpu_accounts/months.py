"""Which month is over and not told of yet, and how is it noted that it was told of? Once each.

The row that says so is moved by whoever has told, in the transaction that writes what is sent: so
no month is told of twice, and none is left out, however long nobody looked.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Final

from django.db import transaction
from django.db.models import Max

from autoscaler.gpu_accounts.closing import HOUR
from autoscaler.gpu_accounts.models import ClosedHour, MonthsPlace, TeamMonth
from autoscaler.gpu_accounts.reading.report import EndedJobs, begin_of, next_month

_THE_ONLY_ROW: Final = 1


def month_to_tell() -> date | None:
    """Return the first month that is over and not told of; None: there is none.

    The first time that somebody asks, months begin with the one that goes on then: of those before
    it, nobody is told any more.
    """
    last = ClosedHour.objects.aggregate(hour=Max("hour"))["hour"]
    if last is None:
        return None
    closed_until = last + HOUR
    place = MonthsPlace.objects.filter(pk=_THE_ONLY_ROW).first()
    if place is None:
        begun = closed_until.date().replace(day=1)
        MonthsPlace.objects.bulk_create(
            [MonthsPlace(pk=_THE_ONLY_ROW, month=begun)], ignore_conflicts=True
        )
        return None
    is_over = begin_of(next_month(place.month)) <= closed_until
    return place.month if is_over else None


@transaction.atomic
def note_told(month: date, ended: Mapping[str, EndedJobs]) -> bool:
    """Note that it was told of, and how many jobs ended; False: somebody else was first.

    Whoever calls this writes in the same transaction what is sent.
    """
    moved = MonthsPlace.objects.filter(pk=_THE_ONLY_ROW, month=month).update(
        month=next_month(month)
    )
    if not moved:
        return False
    TeamMonth.objects.bulk_create(
        TeamMonth(
            month=month,
            team=team,
            completed=one.completed,
            failed=one.failed,
            cancelled=one.cancelled,
        )
        for team, one in sorted(ended.items())
    )
    return True
