"""How many GPUs do teams want of a pool, and how many jobs wait for them?"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from tenancy.models import Team

from jobs.lifecycle import ACTIVE, State
from jobs.models import GpuClaim, Job


@dataclass(slots=True, kw_only=True)
class GpuDemand:
    """One team's demand in one pool; GPUs unless it says jobs."""

    wanted: int = 0  # what live jobs could use at most
    waiting: int = 0  # what waiting jobs ask for at least
    allocated: int = 0
    waiting_jobs: int = 0
    running_jobs: int = 0


def by_team(pool_id: int) -> dict[int, GpuDemand]:
    """Return the demand by team id, without teams that neither want nor hold a GPU here."""
    demands: defaultdict[int, GpuDemand] = defaultdict(GpuDemand)
    live = Job.objects.filter(pool_id=pool_id, state__in=[State.QUEUED, *ACTIVE])
    for team_id, state, least, most, gpus in live.values_list(
        "team_id",
        "state",
        "resolved_spec__elastic__min_workers",
        "resolved_spec__elastic__max_workers",
        "resolved_spec__resources__gpus_per_worker",
    ):
        demand = demands[team_id]
        demand.wanted += most * gpus
        if state == State.QUEUED:
            demand.waiting += least * gpus
            demand.waiting_jobs += 1
        else:
            demand.running_jobs += 1
    held = GpuClaim.objects.filter(node__pool_id=pool_id)
    for team_id in held.values_list("worker__job__team_id", flat=True):
        demands[team_id].allocated += 1
    return dict(demands)


def by_team_name(pool_id: int) -> dict[str, GpuDemand]:
    """Return the same by the team's name."""
    demands = by_team(pool_id)
    names = Team.objects.filter(pk__in=demands).values_list("pk", "name")
    return {name: demands[team_id] for team_id, name in names}
