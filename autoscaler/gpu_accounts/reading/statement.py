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
_COSTS: Final = ", ".join(
    f"""
        CASE WHEN bool_and(price IS NOT NULL OR {amount} = 0)
        THEN sum(({amount}) * coalesce(price, 0)) / 3600000000 END AS {name}
    """
    for name, amount in (("cost", "guaranteed + borrowed"), ("credit", "lent"))
)  # in fractions: a price is no whole number of anything
_NO_COSTS: Final = "NULL::float8 AS cost, NULL::float8 AS credit"
_TOTAL_COSTS: Final = ", ".join(
    f"CASE WHEN bool_and({name} IS NOT NULL) THEN sum({name}) END AS {name}"
    for name in ("cost", "credit")
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
    """Return the statement: is it the total, period, what is told apart, name, amounts, costs.

    The total comes first; where its period would be stands how many rows there are.
    """
    told = {f"told_{number}": column for number, column in enumerate(_told_apart(asked))}
    apart = "".join(f"{column} AS {name}, " for name, column in told.items())
    name = "account.name" if Dimension.JOB in asked.dimensions else "NULL"
    price, costs = ("price.per_gpu_hour", _COSTS) if asked.prices else ("NULL", _NO_COSTS)
    lines = " UNION ALL ".join(
        f"SELECT {period}, {apart}{name} AS name, {_AMOUNTS}, {price} AS price FROM {source}"  # noqa: S608
        for period, source in _sources(asked)
    )
    by = ", ".join(("period", *told))
    nulls = "".join(f"NULL AS {one}, " for one in told)
    return f"""
        WITH lines AS ({lines}),
        found AS (SELECT {by}, max(name) AS name, {_SUMS}, {costs} FROM lines GROUP BY {by}),
        page AS (
            SELECT * FROM found
            ORDER BY period, guaranteed + borrowed DESC, {by} LIMIT %(limit)s OFFSET %(offset)s
        )
        SELECT * FROM (
            SELECT true AS is_total, count(*) AS period, {nulls}NULL AS name, {_SUMS},
                {_TOTAL_COSTS} FROM found
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
        "price_pools": [price.pool for price in asked.prices],
        "prices_since": [price.since for price in asked.prices],
        "prices_until": [price.until for price in asked.prices],
        "prices": [price.per_gpu_hour for price in asked.prices],
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
        priced = _priced(asked, "day")
        yield period, f"{source} {priced} WHERE {_DAY}{conditions}"
    if asked.divided_days:
        hours = f"""
            unnest(%(divided)s::timestamptz[]) AS divided(begins)
            JOIN gpu_accounts_hourline AS line
                ON line.hour >= divided.begins AND line.hour < divided.begins + '24 hours'
            {_OWNER} {account} {_priced(asked, "(line.hour AT TIME ZONE 'UTC')::date")}
            WHERE line.hour >= %(since)s AND line.hour < %(until)s{conditions}
        """
        yield _period_of(asked, "line.hour", "%(begins)s::timestamptz[]"), hours


def _period_of(asked: UsageQuestion, moment: str, begins: str) -> str:
    return f"width_bucket({moment}, {begins}) AS period" if asked.period else "1 AS period"


def _priced(asked: UsageQuestion, day: str) -> str:
    """Return the join with what GPUs cost on a line's day."""
    if not asked.prices:
        return ""
    return f"""
        LEFT JOIN unnest(
            %(price_pools)s::text[], %(prices_since)s::date[], %(prices_until)s::date[],
            %(prices)s::float8[]
        ) AS price(pool, since, until, per_gpu_hour)
            ON price.pool = owner.pool AND {day} >= price.since AND {day} < price.until
    """


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
