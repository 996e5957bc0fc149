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
        for pool in pools.order_by("name")
    ]


def nodes_of(pools: Sequence[Pool]) -> QuerySet[Node]:
    return Node.objects.filter(pool__in=pools).order_by("name")


@dataclass(frozen=True, slots=True, kw_only=True)
class GpusByTeam:
    """GPUs by team at one moment."""

    at: datetime
    used: dict[str, int]
    waiting: dict[str, int]
    guaranteed: dict[str, int]  # as it was then


# The newest sample of each of so many equal stretches is looked up by itself, so that it does not
# matter how many there are. The first stretch begins where there is something to see.
_UTILISATION: Final = """
    WITH known AS (
        SELECT MIN(at) AS since FROM cluster_utilisationsample
        WHERE pool_id = %(pool)s AND at >= %(since)s
    ), stretches AS (
        SELECT since + (%(until)s - since) * (number - 1) / %(most)s AS after,
               since + (%(until)s - since) * number / %(most)s AS till
        FROM known, generate_series(0, %(most)s) AS number
    ), moments AS (
        SELECT newest.at
        FROM stretches, LATERAL (
            SELECT at FROM cluster_utilisationsample
            WHERE pool_id = %(pool)s AND at > after AND at <= till
            ORDER BY at DESC LIMIT 1
        ) AS newest
    )
    SELECT at, json_object_agg(team.name, gpus), json_object_agg(team.name, waiting_gpus),
        json_object_agg(team.name, guaranteed_gpus)
    FROM moments
    JOIN cluster_utilisationsample AS sample USING (at)
    JOIN tenancy_team AS team ON team.id = sample.team_id
    WHERE pool_id = %(pool)s
    GROUP BY at ORDER BY at
"""


def utilisation(pool: Pool, *, minutes: int) -> list[GpusByTeam]:
    """Evenly thinned samples of the last minutes, oldest first; the newest is always there."""
    now = timezone.now()
    parameters: dict[str, int | datetime] = {
        "pool": pool.pk,
        "since": now - timedelta(minutes=minutes),
        "until": now + timedelta(seconds=1),  # so that a sample of this very moment is in it
        "most": MOST_INSTANTS - 1,  # and the first sample, which is a stretch by itself
    }
    with connection.cursor() as cursor:
        cursor.execute(_UTILISATION, parameters)
        return [
            GpusByTeam(at=at, used=used, waiting=waiting, guaranteed=guaranteed)
            for at, used, waiting, guaranteed in cursor
        ]


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
