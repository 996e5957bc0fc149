"""What did the autoscaler do, tick by tick? Ticks that decided nothing are left out."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import connection
from django.db.models import Q

from autoscaler.control_loop.models import Tick
from jobs.errors import BadCursor
from jobs.models import Job
from jobs.spec.timestamps import parse_timestamp

MOST_MOMENTS: Final = 600  # of a chart; more could not be seen


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownJob:
    """What a job is called, and whose it is."""

    name: str
    team: str
    pool: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TickPage:
    """Some ticks, and the jobs that they speak of, as far as these are there still."""

    ticks: Sequence[Tick]
    jobs: Mapping[str, KnownJob]
    next_cursor: str | None


def ticks_between(
    since: datetime | None,
    until: datetime | None,
    *,
    is_newest_first: bool,
    cursor: str,
    limit: int,
) -> TickPage:
    """Return those at or after `since` and before `until`.

    Raises:
        BadCursor: this function did not make the cursor.
    """
    ticks = Tick.objects.exclude(decisions=[], alarm="")  # rules alone changed something
    if since is not None:
        ticks = ticks.filter(at__gte=since)
    if until is not None:
        ticks = ticks.filter(at__lt=until)
    if cursor:
        ticks = ticks.filter(_beyond(cursor, is_newest_first=is_newest_first))
    order = ("-at", "-id") if is_newest_first else ("at", "id")
    found = list(ticks.order_by(*order)[: limit + 1])
    shown = found[:limit]
    following = _cursor(shown[-1]) if len(found) > limit else None
    return TickPage(ticks=shown, jobs=_known_jobs(_named(shown)), next_cursor=following)


def one_tick(number: int) -> TickPage:
    """Return a page of this tick, or an empty one."""
    found = list(Tick.objects.filter(pk=number))
    return TickPage(ticks=found, jobs=_known_jobs(_named(found)), next_cursor=None)


def _named(ticks: Iterable[Tick]) -> set[str]:
    named: set[str] = set()
    for tick in ticks:
        named |= tick.held.keys()
        named |= {decision["job_id"] for decision in tick.decisions}
    return named


def _known_jobs(ids: Collection[str]) -> dict[str, KnownJob]:
    rows = Job.objects.filter(pk__in=ids).values_list("pk", "name", "team__name", "pool__name")
    return {pk: KnownJob(name=name, team=team, pool=pool) for pk, name, team, pool in rows}


def _cursor(tick: Tick) -> str:
    return base64.urlsafe_b64encode(f"{tick.at.isoformat()} {tick.pk}".encode()).decode()


def _beyond(cursor: str, *, is_newest_first: bool) -> Q:
    try:
        at, number = base64.urlsafe_b64decode(cursor).decode().split(" ")
        moment, place = parse_timestamp(at), int(number)
    except (binascii.Error, ValueError) as error:
        raise BadCursor from error
    if not 0 <= place < 2**63:
        raise BadCursor
    way = "lt" if is_newest_first else "gt"
    return Q(**{f"at__{way}": moment}) | Q(**{"at": moment, f"pk__{way}": place})


# The newest tick of each of so many equal stretches is looked up by itself, so that it does not
# matter how many there are.
_PRICES: Final = """
    WITH stretches AS (
        SELECT %(since)s + (%(until)s - %(since)s) * (number - 1) / %(most)s AS begins,
               %(since)s + (%(until)s - %(since)s) * number / %(most)s AS ends
        FROM generate_series(1, %(most)s) AS number
    )
    SELECT newest.at, (pool ->> 'price')::float, (pool ->> 'gap')::float
    FROM stretches, LATERAL (
        SELECT at, pools FROM control_loop_tick
        WHERE at >= begins AND at < ends
        ORDER BY at DESC LIMIT 1
    ) AS newest, LATERAL jsonb_array_elements(newest.pools) AS pool
    WHERE pool ->> 'pool' = %(pool)s
    ORDER BY newest.at
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What one more GPU would have added then, and how far the plan may be from the best one."""

    at: datetime
    price: float | None
    gap: float | None


def prices(pool: str, *, since: datetime, until: datetime) -> list[Price]:
    """Evenly thinned prices, oldest first."""
    parameters: dict[str, str | int | datetime] = {
        "pool": pool, "since": since, "until": until, "most": MOST_MOMENTS,
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(_PRICES, parameters)
        return [Price(at=at, price=price, gap=gap) for at, price, gap in cursor]


def alarms(*, since: datetime, until: datetime, most: int) -> list[datetime]:
    """Return when there was a new one, the newest first."""
    found = Tick.objects.filter(at__gte=since, at__lt=until).exclude(alarm="")
    return list(found.order_by("-at").values_list("at", flat=True)[:most])


def gpus_of(tick: Tick, decision: Mapping[str, Any]) -> tuple[int, int]:
    """Return how many GPUs its job had, and got; of ticks of a former release, its workers."""
    held = tick.held.get(decision["job_id"])
    if held is not None:
        return held[0], held[1]
    return _workers(decision.get("previous")), _workers(decision.get("allocation"))


def _workers(allocation: Mapping[str, Any] | None) -> int:
    return sum(workers for _, workers in allocation["workers_by_node"]) if allocation else 0
