"""How much GPU time was whose, as asked? From hours that are closed, which never change again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final

from django.db import connection, transaction
from django.db.models import Max, Min, Q, Sum

from autoscaler.gpu_accounts.models import AccountOwner, ClosedHour, DayLine, GpuPrice
from autoscaler.gpu_accounts.reading.question import PriceSpan, UsageQuestion
from autoscaler.gpu_accounts.reading.statement import parameters_of, statement_for

NOTHING: Final[Mapping[str, int]] = dict.fromkeys(DayLine.AMOUNTS, 0)
_HOUR: Final = timedelta(hours=1)
_MEMORY: Final = "SET LOCAL work_mem = '32MB'"  # else it sorts on disk what it can add up


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedTime:
    """The time that has accounts."""

    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What is to be paid for what was held, and to be had for what was lent.

    None: a part of it has no price.
    """

    cost: float | None = None
    credit: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRow:
    """GPU time of one kind. None: promised to nobody, held by no job, or without such a label."""

    period: str | None  # its name; None: they are not told apart
    told: Sequence[str | None]  # in the order of the question: dimensions, then labels
    job_name: str | None
    amounts: Mapping[str, int]  # microseconds of GPUs, by the names of a line's columns
    costs: Costs


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageAnswer:
    """A page of the rows, those with most GPU time of each period first."""

    rows: Sequence[UsageRow]
    total: Mapping[str, int]  # of all rows, also of other pages
    total_costs: Costs
    rows_in_all: int


def closed_time() -> ClosedTime | None:
    """Return the time that has accounts; None: no hour is closed yet."""
    found = ClosedHour.objects.aggregate(since=Min("hour"), last=Max("hour"))
    if found["since"] is None:
        return None
    return ClosedTime(since=found["since"], until=found["last"] + _HOUR)


def unseen_seconds(since: datetime, until: datetime) -> float:
    """Return for how long of this time nobody looked: what changed was written down at its end."""
    asked = Q(hour__gte=since, hour__lt=until)
    found = ClosedHour.objects.filter(asked).aggregate(all=Sum("unseen"))["all"]
    return float(found or 0) / 1e6


def accounted_teams() -> Sequence[str]:
    """Return the teams that ever had GPU time, also those that are gone."""
    teams = AccountOwner.objects.exclude(team="").order_by("team").values_list("team", flat=True)
    return list(teams.distinct())


def prices() -> Sequence[PriceSpan]:
    """Return what GPUs cost when."""
    found = list(GpuPrice.objects.order_by("pool", "since"))
    after = [*found, None][1:]
    return [
        PriceSpan(
            pool=one.pool,
            since=one.since,
            until=later.since if later is not None and later.pool == one.pool else date.max,
            per_gpu_hour=float(one.per_gpu_hour),
        )
        for one, later in zip(found, after, strict=True)
    ]


def read_usage(asked: UsageQuestion, *, limit: int, offset: int = 0) -> UsageAnswer:
    """Return the answer's rows from this one on, at most so many."""
    if asked.since >= asked.until:
        return UsageAnswer(rows=[], total=NOTHING, total_costs=Costs(), rows_in_all=0)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_MEMORY)
        cursor.execute(statement_for(asked), parameters_of(asked, limit=limit, offset=offset))
        (all_of_it, *found) = cursor.fetchall()
    return UsageAnswer(
        rows=[_row(asked, one) for one in found],
        total=_amounts(all_of_it),
        total_costs=_costs(all_of_it),
        rows_in_all=all_of_it[1],
    )


def _row(asked: UsageQuestion, found: tuple[Any, ...]) -> UsageRow:
    _, number, *told, name = found[: -len(DayLine.AMOUNTS) - 2]
    return UsageRow(
        period=asked.period.called(asked.begins[number - 1], asked.zone) if asked.period else None,
        told=told,
        job_name=name,
        amounts=_amounts(found),
        costs=_costs(found),
    )


def _costs(found: tuple[Any, ...]) -> Costs:
    return Costs(cost=found[-2], credit=found[-1])


def _amounts(found: tuple[Any, ...]) -> Mapping[str, int]:
    amounts = found[-len(DayLine.AMOUNTS) - 2 : -2]
    return {name: int(amount or 0) for name, amount in zip(DayLine.AMOUNTS, amounts, strict=True)}
