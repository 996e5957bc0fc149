"""How does PostgreSQL add up the lines of a time? Of whole days and, of others, of hours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from autoscaler.gpu_accounts.models import DayLine
from autoscaler.gpu_accounts.reading.question import Dimension, UsageQuestion

OTHER_TEAMS: Final = "other teams"
_AMOUNTS: Final = ", ".join(DayLine.AMOUNTS)
_SUMS: Final = ", ".join(
    f"sum({name}) AS {name}"
    if name == "lost"  # as jobs tell, so perhaps more than fits into anything
    else f"sum({name})::bigint AS {name}"
    for name in DayLine.AMOUNTS
)
_COLUMNS: Final = {
    Dimension.TEAM: """CASE WHEN owner.team = '' THEN NULL
        WHEN %(shown)s::text[] IS NULL OR owner.team = ANY(%(shown)s) THEN owner.team
        ELSE %(other_teams)s END""",
    Dimension.USER: """nullif(owner."user", '')""",
    Dimension.POOL: "owner.pool",
    Dimension.JOB: "account.job",
}
_OWNER: Final = "JOIN gpu_accounts_accountowner AS owner ON owner.id = line.owner_id"
_ACCOUNT: Final = "LEFT JOIN gpu_accounts_accountedjob AS account ON account.id = line.job_id"
_DAY: Final = (
    """day >= %(first_day)s AND day < %(last_day)s AND day <> ALL(%(divided_days)s::date[])"""
)


def statement_for(asked: UsageQuestion) -> str:
    """Return the statement: is it the total, period, what is told apart, name, amounts.

    The total comes first; where its period would be stands how many rows there are.
    """
    told = {f"told_{number}": column for number, column in enumerate(_told_apart(asked))}
    apart = "".join(f"{column} AS {name}, " for name, column in told.items())
    name = "account.name" if Dimension.JOB in asked.dimensions else "NULL"
    lines = " UNION ALL ".join(
        f"SELECT {period}, {apart}{name} AS name, {_AMOUNTS} FROM {source}"  # noqa: S608
        for period, source in _sources(asked)
    )
    by = ", ".join(("period", *told))
    nulls = "".join(f"NULL AS {one}, " for one in told)
    return f"""
        WITH lines AS ({lines}),
        found AS (SELECT {by}, max(name) AS name, {_SUMS} FROM lines GROUP BY {by}),
        page AS (
            SELECT * FROM found
            ORDER BY period, guaranteed + borrowed DESC, {by} LIMIT %(limit)s OFFSET %(offset)s
        )
        SELECT * FROM (
            SELECT true AS is_total, count(*) AS period, {nulls}NULL AS name, {_SUMS} FROM found
            UNION ALL SELECT false, * FROM page
        ) AS answer ORDER BY is_total DESC, period, guaranteed + borrowed DESC, {by}
    """  # noqa: S608 - of what stands above


def parameters_of(asked: UsageQuestion, *, limit: int, offset: int) -> Mapping[str, Any]:
    """Return what is given to it: nothing that somebody sent stands in the statement itself."""
    divided = asked.divided_days
    return {
        "since": asked.since,
        "until": asked.until,
        "first_day": asked.since.date(),
        "last_day": asked.until.date(),  # a part of it is read by the hour
        "begins": list(asked.begins),
        "begin_days": [_first_whole_day(one) for one in asked.begins],
        "divided": list(divided),
        "divided_days": [one.date() for one in divided],
        "shown": None if asked.shown is None else list(asked.shown),
        "seen": None if asked.seen is None else list(asked.seen),
        "other_teams": OTHER_TEAMS,
        **{name: getattr(asked, name) for name in ("team", "user", "pool", "job")},
        **{f"label_{number}": key for number, key in enumerate(asked.labels)},
        **{f"has_{n}": key for n, (key, _) in enumerate(asked.having_labels)},
        **{f"value_{n}": value for n, (_, value) in enumerate(asked.having_labels)},
        "limit": limit,
        "offset": offset,
    }


def _first_whole_day(moment: datetime) -> date:
    """Return the first day that belongs to the period that begins then, all of it."""
    return moment.date() if moment.time() == time() else moment.date() + timedelta(days=1)


def _sources(asked: UsageQuestion) -> Iterator[tuple[str, str]]:
    """Yield of which period a line is, and where lines come from: each hour from one of them."""
    conditions = "".join(f" AND {one}" for one in _conditions(asked))
    account = _ACCOUNT if asked.concerns_jobs else ""
    if asked.has_whole_days:
        period = _period_of(asked, "day", "%(begin_days)s::date[]")
        source = (
            f"gpu_accounts_dayline AS line {_OWNER} {account}"
            if asked.is_personal
            else "gpu_accounts_teamday AS owner"
        )
        yield period, f"{source} WHERE {_DAY}{conditions}"
    if asked.divided_days:
        hours = f"""
            unnest(%(divided)s::timestamptz[]) AS divided(begins)
            JOIN gpu_accounts_hourline AS line
                ON line.hour >= divided.begins AND line.hour < divided.begins + '24 hours'
            {_OWNER} {account}
            WHERE line.hour >= %(since)s AND line.hour < %(until)s{conditions}
        """
        yield _period_of(asked, "line.hour", "%(begins)s::timestamptz[]"), hours


def _period_of(asked: UsageQuestion, moment: str, begins: str) -> str:
    return f"width_bucket({moment}, {begins}) AS period" if asked.period else "1 AS period"


def _told_apart(asked: UsageQuestion) -> Iterator[str]:
    for dimension in asked.dimensions:
        yield _COLUMNS[dimension]
    for number in range(len(asked.labels)):
        yield f"account.labels ->> %(label_{number})s"


def _conditions(asked: UsageQuestion) -> Iterator[str]:
    for name in ("team", "user", "pool"):
        if getattr(asked, name):
            yield f'owner."{name}" = %({name})s'
    if asked.shown is not None and asked.team:
        yield "owner.team = ANY(%(shown)s)"
    if asked.is_personal and asked.seen is not None:
        yield "owner.team = ANY(%(seen)s)"
    if asked.job:
        yield "account.job = %(job)s"
    for number, (_, value) in enumerate(asked.having_labels):
        having = f"account.labels ->> %(has_{number})s"
        yield f"{having} IS NOT NULL" if value is None else f"{having} = %(value_{number})s"
