"""Was a team given what it was owed? From hours that are closed, and the moments still known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection
from django.db.models import F, Min, Q, Sum

from autoscaler.gpu_accounts.models import OwedHour, OwedSpan

MOST_SHORTFALLS: Final = 500
_MICROSECOND: Final = timedelta(microseconds=1)
_MISSING: Final = """
    SELECT pool, cause.key, sum(cause.value::numeric)
    FROM gpu_accounts_owedhour CROSS JOIN LATERAL jsonb_each_text(missing) AS cause
    WHERE team = %(team)s AND hour >= %(since)s AND hour < %(until)s
        AND (%(pool)s = '' OR pool = %(pool)s)
    GROUP BY pool, cause.key ORDER BY 3 DESC, 1, 2
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolReceipt:
    """How a time went for a team in one pool, in microseconds."""

    pool: str
    working: int
    given: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingTime:
    """Microseconds of GPUs that a team was owed and not given, of one pool and for one cause."""

    pool: str
    cause: str
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """A stretch in which the same GPUs were missing for one cause, and the jobs that waited."""

    since: datetime
    until: datetime
    pool: str
    guaranteed_gpus: int
    cause: str
    gpus: int
    jobs: Sequence[str]

    @property
    def amount(self) -> int:
        return self.gpus * ((self.until - self.since) // _MICROSECOND)


@dataclass(frozen=True, slots=True, kw_only=True)
class FairnessReceipt:
    """All that is known of a team and a time."""

    pools: Sequence[PoolReceipt]
    missing: Sequence[MissingTime]  # the largest first
    shortfalls: Sequence[Shortfall]  # the newest first
    has_more: bool  # shortfalls than are told

    @property
    def working(self) -> int:
        return sum(one.working for one in self.pools)

    @property
    def given(self) -> int:
        return sum(one.given for one in self.pools)


def first_owed_hour() -> datetime | None:
    """Return the first hour of which it is known what any team was owed; None: there is none."""
    found: datetime | None = OwedHour.objects.aggregate(hour=Min("hour"))["hour"]
    return found


def read_receipt(
    team: str,
    *,
    since: datetime,
    until: datetime,
    pool: str = "",
    most_shortfalls: int = MOST_SHORTFALLS,
) -> FairnessReceipt:
    """Return what is known of closed hours that begin in the time; of all pools without one."""
    of_team = Q(team=team) & (Q(pool=pool) if pool else Q())
    hours = OwedHour.objects.filter(of_team, hour__gte=since, hour__lt=until)
    sums = hours.values("pool").annotate(worked=Sum("working"), got=Sum("given")).order_by("pool")
    with connection.cursor() as cursor:
        asked: dict[str, datetime | str] = {
            "team": team,
            "since": since,
            "until": until,
            "pool": pool,
        }
        cursor.execute(_MISSING, asked)
        missing = cursor.fetchall()
    spans = (
        OwedSpan.objects.filter(of_team, Q(until=None) | Q(until__gt=since), since__lt=until)
        .exclude(missing={})
        .exclude(until=F("since"))  # the clock stood still
        .order_by("-since", "pool")[: most_shortfalls + 1]
    )
    read = spans if most_shortfalls else ()
    found = [one for span in read for one in _shortfalls(span, since, until)]
    return FairnessReceipt(
        pools=[
            PoolReceipt(pool=row["pool"], working=int(row["worked"]), given=int(row["got"]))
            for row in sums
        ],
        missing=[MissingTime(pool=of, cause=cause, amount=int(n)) for of, cause, n in missing],
        shortfalls=found[:most_shortfalls],
        has_more=len(found) > most_shortfalls,
    )


def _shortfalls(span: OwedSpan, since: datetime, until: datetime) -> Sequence[Shortfall]:
    """Return what of the span lies in the time."""
    begins, ends = max(span.since, since), min(span.until or until, until)
    known: dict[str, Any] = span.missing
    return [
        Shortfall(
            since=begins,
            until=ends,
            pool=span.pool,
            guaranteed_gpus=span.guaranteed_gpus,
            cause=cause,
            gpus=one["gpus"],
            jobs=one["jobs"],
        )
        for cause, one in sorted(known.items())
    ]
