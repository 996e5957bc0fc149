"""How many jobs wait and run, and who holds, lends and borrows GPUs, by pool and team?

Each statement answers for all pools and teams, so their number is the same however many there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from cluster.models import Pool, UtilisationSample
from django.db.models import Count, Min, Q, Subquery, Sum
from django.db.models.functions import Coalesce

from autoscaler.control_loop.observe.for_planner.team_quotas import team_quotas
from autoscaler.planning.snapshot.cluster_state import TeamQuota
from autoscaler.planning.teams.lending import borrowed_gpus, lent_gpus
from autoscaler.planning.teams.team_tree import TeamTree
from control_plane.api.monitoring import families
from control_plane.api.monitoring.families import MetricReading
from jobs.commands import quarantine
from jobs.lifecycle import ACTIVE, LIVE, JobState
from jobs.models import GpuClaim, Job

_LATELY: Final = timedelta(minutes=1)  # guessed: many ticks
_CLOSED: Final = Q(nodes__silent_since=None, nodes__is_schedulable=False)
_SILENT: Final = Q(nodes__silent_since__isnull=False)
_OPEN: Final = Q(nodes__silent_since=None, nodes__is_schedulable=True)

PoolAndTeam = tuple[str, str]


@dataclass(slots=True)
class _Queue:
    """The jobs of a team in a pool that have not ended."""

    by_state: Counter[str] = field(default_factory=Counter)
    idle: int = 0
    waits_since: datetime | None = None


def readings(now: datetime, *, last_tick: datetime | None) -> Iterator[MetricReading]:
    """Yield what is read; `last_tick`: when the control loop looked last."""
    quotas = list(team_quotas())
    pools = list(_pools())
    held, queues = _held(), _queues()
    waited_for = _waited_for(last_tick)
    for one in quotas:
        place = (one.pool, one.team)
        yield from _of_queue(place, queues.get(place, _Queue()), now)
        yield families.HELD_GPUS, place, held[place]
        yield families.WAITED_FOR_GPUS, place, waited_for.get(place, 0)
    for pool in pools:
        yield from _of_pool(pool, held)
        yield from _sharing(pool, [one for one in quotas if one.pool == pool.name], held)
    yield families.JOBS_LEFT_OUT, (), quarantine.count()


def _queues() -> Mapping[PoolAndTeam, _Queue]:
    found: dict[PoolAndTeam, _Queue] = {}
    rows = (
        Job.objects.filter(state__in=LIVE)
        .order_by()
        .values_list("pool__name", "team__name", "state")
        .annotate(
            jobs=Count("pk"),
            idle=Count("pk", filter=Q(state__in=ACTIVE, idle_since__isnull=False)),
            since=Min(Coalesce("state_since", "submitted_at")),
        )
    )
    for pool, team, state, jobs, idle, since in rows:
        queue = found.setdefault((pool, team), _Queue())
        queue.by_state[state] += jobs
        queue.idle += idle
        if state == JobState.QUEUED:
            queue.waits_since = since
    return found


def _of_queue(place: PoolAndTeam, queue: _Queue, now: datetime) -> Iterator[MetricReading]:
    for state in sorted(LIVE):
        yield families.JOBS, (*place, state), queue.by_state[state]
    yield families.IDLE_JOBS, place, queue.idle
    waits = now - queue.waits_since if queue.waits_since else timedelta()
    yield families.LONGEST_WAIT, place, max(waits.total_seconds(), 0.0)


def _held() -> Counter[PoolAndTeam]:
    rows = GpuClaim.objects.order_by().values_list("node__pool__name", "worker__job__team__name")
    return Counter({(pool, team): gpus for pool, team, gpus in rows.annotate(gpus=Count("pk"))})


def _waited_for(last_tick: datetime | None) -> Mapping[PoolAndTeam, int]:
    """Return what the last tick noted; it notes nothing where there is neither quota nor job."""
    newest = UtilisationSample.objects.order_by("-at").values("at")[:1]
    rows = UtilisationSample.objects.filter(at=Subquery(newest)).values_list(
        "at", "pool__name", "team__name", "waiting_gpus"
    )
    return {
        (pool, team): gpus
        for at, pool, team, gpus in rows
        if last_tick is not None and last_tick - at < _LATELY
    }


def _pools() -> Sequence[Any]:
    """Return pools with what can be added up of their nodes."""
    return list(
        Pool.objects.order_by("name").annotate(
            gpus=Sum("nodes__gpus", default=0),
            open_gpus=Sum("nodes__gpus", filter=_OPEN, default=0),
            open=Count("nodes", filter=_OPEN),
            closed=Count("nodes", filter=_CLOSED),
            silent=Count("nodes", filter=_SILENT),
        )
    )


def _of_pool(pool: Any, held: Mapping[PoolAndTeam, int]) -> Iterator[MetricReading]:
    in_use = sum(gpus for (name, _), gpus in held.items() if name == pool.name)
    yield families.GPUS, (pool.name,), pool.gpus
    yield families.OPEN_GPUS, (pool.name,), pool.open_gpus
    yield families.IDLE_GPUS, (pool.name,), max(pool.gpus - in_use, 0)
    for state in ("open", "closed", "silent"):
        yield families.NODES, (pool.name, state), getattr(pool, state)
    yield families.UNPLANNED, (pool.name,), int(pool.unplanned_since is not None)


def _sharing(
    pool: Any, quotas: Sequence[TeamQuota], held: Mapping[PoolAndTeam, int]
) -> Iterator[MetricReading]:
    tree = TeamTree.of(quotas)
    holds = {one.team: held.get((pool.name, one.team), 0) for one in quotas}
    lent = lent_gpus(tree, holds, gpus=pool.gpus)
    for team in holds:
        node = tree.nodes[team]
        yield families.GUARANTEED_GPUS, (pool.name, team), node.own_guaranteed
        yield families.BORROWED_GPUS, (pool.name, team), borrowed_gpus(node, holds)
        yield families.LENT_GPUS, (pool.name, team), lent[team]
