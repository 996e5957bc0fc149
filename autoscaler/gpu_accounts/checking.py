"""Do the accounts add up, and of which hours is something not known?

What is said of an hour is said again until the hour is older than is looked at; nothing is mended,
because accounts do not change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection
from django.db.models import Max

from autoscaler.gpu_accounts.models import AccountsClock, ClosedHour, DayLine

LOOKED_AT: Final = timedelta(days=40)  # guessed: a month's report is checked when it is made
COUNTED_AGAIN: Final = timedelta(days=2)  # whose recordings are still all there
PATIENCE: Final = timedelta(hours=3)  # guessed: whatever kept hours from being closed is over

_GAPS: Final = """
    SELECT count(*) FILTER (WHERE unseen > 0 OR excess > 0 OR hour - former > '1 hour'),
        coalesce(sum(unseen), 0), max(hour)
    FROM (
        SELECT hour, unseen, excess, lag(hour) OVER (ORDER BY hour) AS former
        FROM gpu_accounts_closedhour WHERE hour >= %(since)s
    ) AS known
"""
_ALL: Final = "guaranteed + borrowed + reserved + idle"
_NOT_ADDING_UP: Final = f"""
    WITH lines AS (
        SELECT hour, owner.pool, sum({_ALL}) AS all_of_it
        FROM gpu_accounts_hourline AS line
        JOIN gpu_accounts_accountowner AS owner ON owner.id = line.owner_id
        WHERE hour >= %(since)s GROUP BY hour, owner.pool
    ), closed AS (
        SELECT hour, pool.key AS pool, pool.value::bigint AS capacity
        FROM gpu_accounts_closedhour CROSS JOIN LATERAL jsonb_each_text(capacities) AS pool
        WHERE hour >= %(since)s
    )
    SELECT coalesce(closed.hour, lines.hour) AS hour, coalesce(closed.pool, lines.pool) AS pool,
        coalesce(capacity, 0) AS capacity, coalesce(all_of_it, 0) AS all_of_it
    FROM closed FULL JOIN lines ON lines.hour = closed.hour AND lines.pool = closed.pool
    WHERE coalesce(capacity, 0) <> coalesce(all_of_it, 0)
    ORDER BY 1, 2
"""  # noqa: S608 - of names of columns
_SUMS: Final = ", ".join(f"sum({name}) AS {name}" for name in DayLine.AMOUNTS)
_OF_DAYS, _OF_HOURS, _OF_TEAMS = (
    ", ".join(f"{of}.{name}" for name in DayLine.AMOUNTS) for of in ("days", "hours", "teams")
)
_DAYS_DIFFER: Final = f"""
    WITH days AS (
        SELECT day, {_SUMS} FROM gpu_accounts_dayline WHERE day >= %(day)s GROUP BY day
    ), hours AS (
        SELECT (hour AT TIME ZONE 'UTC')::date AS day, {_SUMS}
        FROM gpu_accounts_hourline WHERE hour >= %(since)s GROUP BY 1
    ), teams AS (
        SELECT day, {_SUMS} FROM gpu_accounts_teamday WHERE day >= %(day)s GROUP BY day
    )
    SELECT day FROM days FULL JOIN hours USING (day) FULL JOIN teams USING (day)
    WHERE ({_OF_DAYS}) IS DISTINCT FROM ({_OF_HOURS})
        OR ({_OF_DAYS}) IS DISTINCT FROM ({_OF_TEAMS}) ORDER BY day
"""  # noqa: S608 - of names of columns


def _recorded(table: str, pool: str, more: str = "") -> str:
    """Return what spans of a kind come to in each closed hour, in microseconds of GPUs."""
    return f"""
        SELECT closed.hour, {pool} AS pool, sum(span.gpus * 1000000 * extract(
            epoch FROM least(coalesce(span.until, closed.hour + '1 hour'), closed.hour + '1 hour')
                - greatest(span.since, closed.hour)
        ))::bigint AS gpu_time
        FROM gpu_accounts_closedhour AS closed
        JOIN {table} AS span ON span.since < closed.hour + '1 hour'
            AND (span.until IS NULL OR span.until > closed.hour) {more}
        WHERE closed.hour >= %(since)s GROUP BY 1, 2
    """  # noqa: S608 - of names of tables


_OTHERWISE_RECORDED: Final = f"""
    WITH held AS ({
    _recorded(
        "gpu_accounts_heldspan",
        "account.pool",
        "JOIN gpu_accounts_accountedjob AS account ON account.id = span.job_id",
    )
}), there AS ({_recorded("gpu_accounts_capacityspan", "span.pool")}), lines AS (
        SELECT line.hour, owner.pool, sum(guaranteed + borrowed) AS held, sum({_ALL}) AS all_of_it
        FROM gpu_accounts_hourline AS line
        JOIN gpu_accounts_accountowner AS owner ON owner.id = line.owner_id
        WHERE line.hour >= %(since)s GROUP BY 1, 2
    ), told AS (
        SELECT hour, lines.pool, coalesce(lines.held, 0) AS held,
            coalesce(lines.all_of_it, 0) AS all_of_it, coalesce(held.gpu_time, 0) AS was_held,
            coalesce(there.gpu_time, 0) AS was_there
        FROM lines FULL JOIN held USING (hour, pool) FULL JOIN there USING (hour, pool)
    )
    SELECT hour, sum(held), sum(was_held), sum(all_of_it), sum(was_there) + max(closed.excess)
    FROM told JOIN gpu_accounts_closedhour AS closed USING (hour)
    GROUP BY hour HAVING bool_or(held <> was_held)
        OR sum(all_of_it) <> sum(was_there) + max(closed.excess)
    ORDER BY hour
"""  # noqa: S608 - of what stands above


def contradictions(now: datetime) -> Iterator[str]:
    """Yield a sentence for whatever must not be: somebody has to look into it."""
    yield from _of_the_clock(now)
    since = (now - LOOKED_AT).replace(hour=0, minute=0, second=0, microsecond=0)
    for hour, pool, capacity, lines in _rows(_NOT_ADDING_UP, since=since):
        yield (
            f"{hour:%Y-%m-%dT%H}: the lines of pool {pool} add up to {_said(lines)},"
            f" of {_said(capacity)} that there were."
        )
    for (day,) in _rows(_DAYS_DIFFER, since=since, day=since.date()):
        yield f"{day}: the sums of the day are not those of its hours."
    for hour, held, was_held, all_of_it, was_there in _rows(
        _OTHERWISE_RECORDED, since=now - COUNTED_AGAIN
    ):
        yield (
            f"{hour:%Y-%m-%dT%H}: jobs held {_said(held)} of {_said(all_of_it)}; by what was"
            f" recorded, {_said(was_held)} of {_said(was_there)}."
        )


def unknowns(now: datetime) -> Iterator[str]:
    """Yield a sentence for each hour of which something is not known."""
    former: datetime | None = None
    for one in ClosedHour.objects.filter(hour__gte=now - LOOKED_AT).order_by("hour"):
        if former is not None and one.hour - former > timedelta(hours=1):
            yield f"{former:%Y-%m-%dT%H} until {one.hour:%Y-%m-%dT%H}: hours are missing."
        if one.excess:
            yield f"{one.hour:%Y-%m-%dT%H}: {_said(one.excess)} were held that were not there."
        if one.unseen:
            seconds = one.unseen // 1_000_000
            yield f"{one.hour:%Y-%m-%dT%H}: nobody looked for {seconds} s."
        former = one.hour


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerGaps:
    """What the accounts do not know, in numbers."""

    hours: int  # of which `unknowns` has a sentence
    unseen_seconds: float
    closed_until: datetime | None  # None: nothing is, or nothing lately


def gaps(now: datetime) -> LedgerGaps:
    """Count what `unknowns` tells, in one statement."""
    ((hours, unseen, last),) = _rows(_GAPS, since=now - LOOKED_AT)
    closed_until = last + timedelta(hours=1) if last is not None else None
    return LedgerGaps(
        hours=hours, unseen_seconds=float(unseen) / 1_000_000, closed_until=closed_until
    )


def _of_the_clock(now: datetime) -> Iterator[str]:
    clock = AccountsClock.objects.first()
    if clock is None:
        return
    if clock.at - now > PATIENCE:
        yield f"now stands still until {clock.at:%Y-%m-%dT%H:%M}: a clock was ahead."
    last: datetime | None = ClosedHour.objects.aggregate(hour=Max("hour"))["hour"]
    closed_until = last + timedelta(hours=1) if last is not None else None
    if closed_until is not None and clock.at - closed_until > PATIENCE:
        yield f"{closed_until:%Y-%m-%dT%H} on is not closed; the log of io may say why."


def _rows(statement: str, **values: Any) -> list[tuple[Any, ...]]:
    parameters: Mapping[str, Any] = values
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found


def _said(microseconds: int) -> str:
    return f"{int(microseconds) / 3.6e9:.4f} GPU-hours"
