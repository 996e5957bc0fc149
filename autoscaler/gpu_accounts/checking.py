"""Do the accounts add up, and of which hours is something not known?

What is said of an hour is said again until the hour is older than is looked at; nothing is mended,
because accounts do not change.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from django.db import connection

from autoscaler.gpu_accounts.models import ClosedHour

LOOKED_AT: Final = timedelta(days=40)  # guessed: a month's report is checked when it is made

_NOT_ADDING_UP: Final = """
    SELECT closed.hour, pool.key, pool.value::bigint, coalesce(lines.all_of_it, 0)
    FROM gpu_accounts_closedhour AS closed
    CROSS JOIN LATERAL jsonb_each_text(closed.capacities) AS pool
    LEFT JOIN (
        SELECT hour, owner.pool, sum(guaranteed + borrowed + reserved + idle) AS all_of_it
        FROM gpu_accounts_hourline AS line
        JOIN gpu_accounts_accountowner AS owner ON owner.id = line.owner_id
        WHERE hour >= %(since)s GROUP BY hour, owner.pool
    ) AS lines ON lines.hour = closed.hour AND lines.pool = pool.key
    WHERE closed.hour >= %(since)s AND pool.value::bigint <> coalesce(lines.all_of_it, 0)
    ORDER BY closed.hour, pool.key
"""
_DAYS_DIFFER: Final = """
    WITH days AS (
        SELECT day, sum(guaranteed + borrowed + reserved + idle) AS all_of_it
        FROM gpu_accounts_dayline WHERE day >= %(day)s GROUP BY day
    ), hours AS (
        SELECT (hour AT TIME ZONE 'UTC')::date AS day,
            sum(guaranteed + borrowed + reserved + idle) AS all_of_it
        FROM gpu_accounts_hourline WHERE hour >= %(since)s GROUP BY 1
    )
    SELECT coalesce(days.day, hours.day) FROM days FULL JOIN hours ON days.day = hours.day
    WHERE days.all_of_it IS DISTINCT FROM hours.all_of_it ORDER BY 1
"""


def gaps(now: datetime) -> Iterator[str]:
    """Yield a sentence for each hour, or day, with which something is wrong."""
    since = (now - LOOKED_AT).replace(hour=0, minute=0, second=0, microsecond=0)
    with connection.cursor() as cursor:
        cursor.execute(_NOT_ADDING_UP, {"since": since})
        for hour, pool, capacity, lines in cursor.fetchall():
            yield (
                f"{hour:%Y-%m-%dT%H}: the lines of pool {pool} add up to {_said(int(lines))},"
                f" of {_said(capacity)} that there were."
            )
        cursor.execute(_DAYS_DIFFER, {"since": since, "day": since.date()})
        for (day,) in cursor.fetchall():
            yield f"{day}: the sums of the day are not those of its hours."
    yield from _what_was_noted(since)


def _what_was_noted(since: datetime) -> Iterator[str]:
    former: datetime | None = None
    for one in ClosedHour.objects.filter(hour__gte=since).order_by("hour"):
        if former is not None and one.hour - former > timedelta(hours=1):
            yield f"{former:%Y-%m-%dT%H} until {one.hour:%Y-%m-%dT%H}: hours are missing."
        if one.excess:
            yield f"{one.hour:%Y-%m-%dT%H}: {_said(one.excess)} were held that were not there."
        if one.unseen:
            seconds = one.unseen // 1_000_000
            yield f"{one.hour:%Y-%m-%dT%H}: nobody looked for {seconds} s."
        former = one.hour


def _said(microseconds: int) -> str:
    return f"{microseconds / 3.6e9:.4f} GPU-hours"
