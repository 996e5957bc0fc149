"""Accounts of some days, as the io process would have closed them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import F, Sum
from django.db.models.functions import TruncDate

from autoscaler.gpu_accounts.models import (
    AccountedJob,
    AccountOwner,
    ClosedHour,
    DayLine,
    HourLine,
    TeamDay,
)

HOUR = timedelta(hours=1)
GPU_HOUR = 3_600_000_000  # microseconds


def account(
    job: str, team: str, user: str, *, pool: str = "default", **labels: str
) -> AccountedJob:
    return AccountedJob.objects.create(
        job=job, pool=pool, team=team, user=user, name=f"train-{job}", labels=labels
    )


def line(
    hour: datetime,
    *,
    job: AccountedJob | None = None,
    team: str = "",
    pool: str = "default",
    **amounts: float,
) -> HourLine:
    """A line of these GPU-hours, not saved yet."""
    owner, _ = AccountOwner.objects.get_or_create(
        pool=job.pool if job else pool,
        team=job.team if job else team,
        user=job.user if job else "",
    )
    whole = {name: round(amount * GPU_HOUR) for name, amount in amounts.items()}
    return HourLine(hour=hour, owner=owner, job=job, **whole)


def close(lines: Sequence[HourLine]) -> None:
    """Write the lines, the sums of their days, and that all hours up to the last are closed."""
    HourLine.objects.bulk_create(lines)
    sums: Any = {name: Sum(name) for name in DayLine.AMOUNTS}
    days = HourLine.objects.annotate(day=TruncDate("hour", tzinfo=UTC))
    DayLine.objects.all().delete()
    DayLine.objects.bulk_create(
        DayLine(**row) for row in days.values("day", "owner_id", "job_id").annotate(**sums)
    )
    TeamDay.objects.all().delete()
    owners = DayLine.objects.values("day", pool=F("owner__pool"), team=F("owner__team"))
    TeamDay.objects.bulk_create(TeamDay(**row) for row in owners.annotate(**sums))
    ClosedHour.objects.all().delete()
    first, last = min(one.hour for one in lines), max(one.hour for one in lines)
    ClosedHour.objects.bulk_create(
        ClosedHour(hour=first + number * HOUR, capacities={})
        for number in range((last - first) // HOUR + 1)
    )
