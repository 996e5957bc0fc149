"""What is asked about pools? How large they are, and how their GPUs were used over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import connection
from django.db.models import Max, QuerySet, Sum
from django.utils import timezone

from cluster.models import Node, Pool, UtilisationSample

MOST_INSTANTS: Final = 600  # of a chart; more could not be seen
LONGEST_HELD_SECONDS: Final = 300.0  # guessed: many ticks, and few jobs that end unseen


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSize:
    """A pool with its GPUs counted."""

    pool: Pool
    gpus: int
    gpus_of_largest_node: int


def pool_sizes() -> list[PoolSize]:
    """Every pool by name; cordoned nodes count, because they come back."""
    pools = Pool.objects.annotate(gpus=Sum("nodes__gpus"), largest=Max("nodes__gpus"))
    return [
        PoolSize(pool=pool, gpus=pool.gpus or 0, gpus_of_largest_node=pool.largest or 0)
        for pool in pools
    ]


def nodes_of(pools: Sequence[Pool]) -> QuerySet[Node]:
    return Node.objects.filter(pool__in=pools).order_by("name")


@dataclass(frozen=True, slots=True, kw_only=True)
class Instant:
    """GPUs by team at one moment."""

    at: datetime
    used: dict[str, int]
    waiting: dict[str, int]


def utilisation(pool: Pool, *, minutes: int) -> list[Instant]:
    """Evenly thinned samples of the last minutes, oldest first; the newest is always there."""
    since = timezone.now() - timedelta(minutes=minutes)
    samples = UtilisationSample.objects.filter(pool=pool, at__gte=since)
    moments = list(samples.order_by("at").values_list("at", flat=True).distinct())
    kept = {moment for place, moment in enumerate(moments, 1) if _is_kept(place, len(moments))}
    instants: dict[datetime, Instant] = {}
    rows = samples.filter(at__in=kept) if len(kept) < len(moments) else samples
    for at, team, gpus, waiting in rows.order_by("at").values_list(
        "at", "team__name", "gpus", "waiting_gpus"
    ):
        instant = instants.setdefault(at, Instant(at=at, used={}, waiting={}))
        instant.used[team] = gpus
        instant.waiting[team] = waiting
    return list(instants.values())


def _is_kept(place: int, total: int) -> bool:
    """Keep a place where its share of the wanted number passes a whole number."""
    return total <= MOST_INSTANTS or place * MOST_INSTANTS % total < MOST_INSTANTS


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuTime:
    """What was held in a stretch of time, by all teams in all pools."""

    gpu_seconds: float
    mean_gpus: float  # over the time of which something is known


_GPU_TIME: Final = """
    SELECT SUM(gpus * EXTRACT(EPOCH FROM till - at)), SUM(EXTRACT(EPOCH FROM till - at))
    FROM (
        SELECT pool_id, at, SUM(gpus) AS gpus,
               LEAST(
                   LEAD(at, 1, %(until)s) OVER (PARTITION BY pool_id ORDER BY at),
                   at + make_interval(secs => %(longest)s)
               ) AS till
        FROM cluster_utilisationsample
        WHERE at >= %(since)s AND at < %(until)s
        GROUP BY pool_id, at
    ) instants
    GROUP BY pool_id
"""


def gpu_time(*, since: datetime, until: datetime) -> GpuTime:
    """Add up what was held: each sample counts until the next of its pool.

    Ticks are not evenly spaced; `LONGEST_HELD_SECONDS` after one, nobody knows what is held.
    """
    with connection.cursor() as cursor:
        cursor.execute(_GPU_TIME, {"since": since, "until": until, "longest": LONGEST_HELD_SECONDS})
        pools = [(float(held), float(known)) for held, known in cursor.fetchall()]
    return GpuTime(
        gpu_seconds=sum(held for held, _ in pools),
        mean_gpus=sum(held / known for held, known in pools if known),
    )


def last_sampled_at() -> datetime | None:
    """Return when the control loop last looked at the cluster."""
    newest: datetime | None = UtilisationSample.objects.aggregate(at=Max("at"))["at"]
    return newest
