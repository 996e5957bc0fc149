"""How many GPUs do teams want of a pool, and how many jobs wait for them?"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

from django.db.models import Count, IntegerField, Q, Sum
from django.db.models.expressions import Combinable
from django.db.models.fields.json import KT
from django.db.models.functions import Cast
from tenancy.models import Team

from autoscaler.job_vocabulary import WAITING_OUTSIDE
from jobs.lifecycle import ACTIVE, JobState
from jobs.models import GpuClaim, Job
from jobs.spec.stored_fields import GPUS_PER_WORKER, MAX_WORKERS, MIN_WORKERS, StoredField

_WANTS_GPUS: Final = ~Q(state=JobState.QUEUED, reason__in=WAITING_OUTSIDE)


@dataclass(slots=True, kw_only=True)
class GpuDemand:
    """One team's demand in one pool; GPUs unless it says jobs.

    As in plans, jobs that wait for something else than GPUs want none yet.
    """

    wanted: int = 0  # what live jobs could use at most
    waiting: int = 0  # what waiting jobs ask for at least
    allocated: int = 0
    waiting_jobs: int = 0
    running_jobs: int = 0


def by_team(pool_id: int) -> dict[int, GpuDemand]:
    """Return the demand by team id, without teams that neither want nor hold a GPU here."""
    demands: defaultdict[int, GpuDemand] = defaultdict(GpuDemand)
    live = Job.objects.filter(pool_id=pool_id, state__in=[JobState.QUEUED, *ACTIVE])
    by_state = (
        live.order_by()
        .values("team_id", "state")
        .annotate(
            jobs=Count("pk"),
            least=Sum(_gpus(MIN_WORKERS), filter=_WANTS_GPUS, default=0),
            most=Sum(_gpus(MAX_WORKERS), filter=_WANTS_GPUS, default=0),
        )
    )
    for team_id, state, jobs, least, most in by_state.values_list(
        "team_id", "state", "jobs", "least", "most"
    ):
        demand = demands[team_id]
        demand.wanted += most
        if state == JobState.QUEUED:
            demand.waiting += least
            demand.waiting_jobs += jobs
        else:
            demand.running_jobs += jobs
    held = GpuClaim.objects.filter(node__pool_id=pool_id).order_by()
    for team_id, gpus in held.values_list("worker__job__team_id").annotate(Count("pk")):
        demands[team_id].allocated = gpus
    return dict(demands)


def _gpus(workers: StoredField) -> Combinable:
    """Return the GPUs of so many workers of each job."""
    return _number(workers) * _number(GPUS_PER_WORKER)


def _number(field: StoredField) -> Cast:
    return Cast(KT(field.lookup), IntegerField())


def by_team_name(pool_id: int) -> dict[str, GpuDemand]:
    """Return the same by the team's name."""
    demands = by_team(pool_id)
    names = Team.objects.filter(pk__in=demands).values_list("pk", "name")
    return {name: demands[team_id] for team_id, name in names}
