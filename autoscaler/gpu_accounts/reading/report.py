"""What goes into the report of a month? Sums of its days, and what they cost to the last digit.

Microseconds are whole numbers and are added up for each price apart, so that costs are exact: what
teams are told adds up to what the installation is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from django.db import connection
from django.db.models import Count

from autoscaler.gpu_accounts.models import DayLine, TeamMonth
from jobs.lifecycle import FINAL, JobState
from jobs.models import Job

MOST_ROWS: Final = 20  # people, jobs and labels; guessed: what fits onto a printed page
_GPU_HOUR: Final = 3_600_000_000  # microseconds
_LAST_MONTH: Final = 12
_SUMS: Final = ", ".join(f"sum({name}) AS {name}" for name in DayLine.AMOUNTS)
_PRICES: Final = """
    price AS (
        SELECT pool, since, per_gpu_hour,
            lead(since) OVER (PARTITION BY pool ORDER BY since) AS until
        FROM gpu_accounts_gpuprice
    )
"""
_PRICED: Final = """
    LEFT JOIN price ON price.pool = owner.pool AND line.day >= price.since
        AND (price.until IS NULL OR line.day < price.until)
"""
_TEAMS: Final = f"""
    WITH {_PRICES}, owner AS (
        SELECT * FROM gpu_accounts_teamday
        WHERE day >= %(before)s AND day < %(next)s AND (%(team)s IS NULL OR team = %(team)s)
    )
    SELECT owner.day >= %(month)s, owner.team, owner.pool, price.per_gpu_hour, {_SUMS}
    FROM owner {_PRICED.replace("line.day", "owner.day")}
    GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
"""  # noqa: S608 - of what stands above
_PARTS: Final = f"""
    WITH {_PRICES}, held AS MATERIALIZED (
        SELECT owner."user", line.job_id, price.per_gpu_hour AS price, {_SUMS}
        FROM gpu_accounts_dayline AS line
        JOIN gpu_accounts_accountowner AS owner ON owner.id = line.owner_id {_PRICED}
        WHERE line.day >= %(month)s AND line.day < %(next)s AND owner.team = %(team)s
            AND line.job_id IS NOT NULL
        GROUP BY 1, 2, 3
    ), people AS (
        SELECT "user", row_number() OVER (
            ORDER BY sum(guaranteed + borrowed) DESC, "user"
        ) AS rank FROM held GROUP BY "user"
    ), jobs AS (
        SELECT job_id, row_number() OVER (
            ORDER BY sum(guaranteed + borrowed) DESC, job_id
        ) AS rank FROM held GROUP BY job_id
    ), labelled AS (
        SELECT label.key, label.value, price, {_SUMS}
        FROM held JOIN gpu_accounts_accountedjob AS account ON account.id = job_id
        CROSS JOIN LATERAL jsonb_each_text(account.labels) AS label
        GROUP BY 1, 2, 3
    ), labels AS (
        SELECT key, value, row_number() OVER (
            ORDER BY sum(guaranteed + borrowed) DESC, key, value
        ) AS rank FROM labelled GROUP BY key, value
    )
    SELECT 'person' AS kind, rank, "user" AS name, '' AS more, price, {_SUMS}
    FROM people JOIN held USING ("user") WHERE rank <= %(most)s GROUP BY 2, 3, price
    UNION ALL
    SELECT 'job', rank, account.job, account.name, price, {_SUMS}
    FROM jobs JOIN held USING (job_id)
    JOIN gpu_accounts_accountedjob AS account ON account.id = job_id
    WHERE rank <= %(most)s GROUP BY 2, 3, 4, price
    UNION ALL
    SELECT 'label', rank, key, value, price, {_SUMS}
    FROM labels JOIN labelled USING (key, value) WHERE rank <= %(most)s GROUP BY 2, 3, 4, price
    ORDER BY kind, rank
"""  # noqa: S608 - of what stands above


@dataclass(slots=True, kw_only=True)
class ReportSum:
    """GPU time, and what it costs; None: a part of it has no price."""

    amounts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(DayLine.AMOUNTS, 0))
    cost: Fraction | None = Fraction(0)
    credit: Fraction | None = Fraction(0)

    def add(self, other: ReportSum) -> None:
        for name, amount in other.amounts.items():
            self.amounts[name] += amount
        self.cost = _both(self.cost, other.cost)
        self.credit = _both(self.credit, other.credit)

    @property
    def held(self) -> int:
        return self.amounts["guaranteed"] + self.amounts["borrowed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedJob:
    """One of those jobs that held most."""

    job: str
    name: str
    sum: ReportSum


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedParts:
    """Who, what and which labels held most of a team's GPU time, the largest first."""

    people: Mapping[str, ReportSum]
    jobs: Sequence[ReportedJob]
    labels: Mapping[tuple[str, str], ReportSum]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedJobs:
    """How many jobs ended in a month, and how."""

    completed: int = 0
    failed: int = 0
    cancelled: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthSums:
    """A month and the one before, by team and pool; team '': what nobody was promised."""

    asked: Mapping[tuple[str, str], ReportSum]
    before: Mapping[tuple[str, str], ReportSum]


def read_sums(month: date, *, team: str | None = None) -> MonthSums:
    """Return what all teams used, or one; in one statement, which reads only sums of days."""
    asked: dict[tuple[str, str], ReportSum] = {}
    before: dict[tuple[str, str], ReportSum] = {}
    for is_asked, of, pool, price, *amounts in _rows(_TEAMS, month, team=team):
        found = asked if is_asked else before
        found.setdefault((of, pool), ReportSum()).add(_priced(price, amounts))
    return MonthSums(asked=asked, before=before)


def read_parts(month: date, team: str, *, most: int = MOST_ROWS) -> ReportedParts:
    """Return what of a team's month was whose, in one statement."""
    found: dict[str, dict[tuple[str, str], ReportSum]] = {"person": {}, "job": {}, "label": {}}
    for kind, _, name, more, price, *amounts in _rows(_PARTS, month, team=team, most=most):
        found[kind].setdefault((name, more), ReportSum()).add(_priced(price, amounts))
    return ReportedParts(
        people={name: one for (name, _), one in found["person"].items()},
        jobs=[
            ReportedJob(job=job, name=name, sum=one) for (job, name), one in found["job"].items()
        ],
        labels=found["label"],
    )


def total_of(sums: Iterable[ReportSum]) -> ReportSum:
    total = ReportSum()
    for one in sums:
        total.add(one)
    return total


def ended_jobs(month: date, *, team: str | None = None) -> Mapping[str, EndedJobs]:
    """Return how many jobs of each team ended in the month, in two statements at most.

    It is kept once teams are told that the month is over, and counted before.
    """
    kept = {
        one.team: EndedJobs(completed=one.completed, failed=one.failed, cancelled=one.cancelled)
        for one in TeamMonth.objects.filter(month=month)
    }
    return kept or count_ended(month, team=team)


def count_ended(month: date, *, team: str | None = None) -> Mapping[str, EndedJobs]:
    """Count the jobs that ended in the month, by the names that teams have now."""
    ended = Job.objects.filter(
        finished_at__gte=begin_of(month), finished_at__lt=begin_of(next_month(month))
    ).filter(state__in=FINAL)
    if team is not None:
        ended = ended.filter(team__name=team)
    counts: dict[str, dict[str, int]] = {}
    rows = ended.order_by().values_list("team__name", "state").annotate(jobs=Count("pk"))
    for name, state, jobs in rows:
        counts.setdefault(name, {})[JobState(state).value] = jobs
    return {name: EndedJobs(**of) for name, of in counts.items()}


def next_month(month: date) -> date:
    if month.month == _LAST_MONTH:
        return date(month.year + 1, 1, 1)
    return month.replace(month=month.month + 1)


def month_before(month: date) -> date:
    if month.month == 1:
        return date(month.year - 1, _LAST_MONTH, 1)
    return month.replace(month=month.month - 1)


def begin_of(month: date) -> datetime:
    return datetime.combine(month, time(), tzinfo=UTC)


def _rows(statement: str, month: date, **more: Any) -> Iterator[tuple[Any, ...]]:
    asked = {"before": month_before(month), "month": month, "next": next_month(month), **more}
    with connection.cursor() as cursor:
        cursor.execute(statement, asked)
        yield from cursor.fetchall()


def _priced(price: Decimal | None, amounts: Sequence[Any]) -> ReportSum:
    named = {name: int(one or 0) for name, one in zip(DayLine.AMOUNTS, amounts, strict=True)}
    held = named["guaranteed"] + named["borrowed"]
    return ReportSum(amounts=named, cost=_money(held, price), credit=_money(named["lent"], price))


def _money(amount: int, price: Decimal | None) -> Fraction | None:
    if price is None:
        return None if amount else Fraction(0)
    return Fraction(price) * amount / _GPU_HOUR


def _both(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    return None if one is None or other is None else one + other
