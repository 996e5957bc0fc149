"""Who may run, so that the next plan says the same?

Whoever is started or paused changes what all others may claim. So after a pass over all jobs they
are passed again as the next plan will see them, until a pass starts and pauses nobody: that one
counts, and what happens to each job is the difference to what it does now.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from autoscaler.planning.demand import demand_of
from autoscaler.planning.fair_share.admission_pass import AdmissionPass
from autoscaler.planning.snapshot.cluster_state import JobPhase

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from autoscaler.planning.demand import Demand
    from autoscaler.planning.fair_share.verdicts import Admission
    from autoscaler.planning.snapshot.cluster_state import PlannedPool
    from autoscaler.planning.teams.team_tree import TeamTree

MOST_PASSES: Final = 8  # guessed: two or three are the rule


def admit(
    demands: Sequence[Demand], *, pool: PlannedPool, tree: TeamTree, gpus: int, now: float
) -> Admission:
    """Decide who runs on `gpus` schedulable GPUs. `tree` has a node for every team."""
    passes: list[Admission] = []
    running = frozenset(demand.job.job_id for demand in demands if demand.is_active)
    while len(passes) < MOST_PASSES:
        imagined = [_imagined(demand, running, pool=pool, now=now) for demand in demands]
        passes.append(
            AdmissionPass(demands=imagined, pool=pool, tree=tree, gpus=gpus, now=now).run()
        )
        before, running = running, _admitted(passes[-1])
        if running == before:
            break
    return _in_all(passes, demands)


def _admitted(admission: Admission) -> frozenset[str]:
    return frozenset(demand.job.job_id for demand in admission.admitted)


def _imagined(
    demand: Demand, running: AbstractSet[str], *, pool: PlannedPool, now: float
) -> Demand:
    """The job as the next plan will see it, if these are the jobs that run."""
    job = demand.job
    if demand.is_active == (job.job_id in running):
        return demand
    if demand.is_active:
        waits = replace(
            job, phase=JobPhase.WAITING, allocation=None, target=None, waiting_since=now
        )
        return demand_of(waits, pool)
    return replace(demand, job=replace(job, phase=JobPhase.ACTIVE, running_since=now))


def _in_all(passes: Sequence[Admission], demands: Sequence[Demand]) -> Admission:
    """Return what all passes together do to the jobs as they are."""
    last = passes[-1]
    admitted = _admitted(last)
    here = {demand.job.job_id: demand for demand in demands}
    owed = {demand.job.job_id for each in passes for demand in each.owed} & admitted
    paused = {d.job.job_id: d for d in demands if d.is_active and d.job.job_id not in admitted}
    gave_way = {guest: due for each in passes for guest, due in each.gave_way.items()}
    return replace(
        last,
        admitted=tuple(here[demand.job.job_id] for demand in last.admitted),
        paused=tuple(paused.values()),
        owed=tuple(d for d in demands if not d.is_active and d.job.job_id in owed),
        gave_way={guest: due for guest, due in gave_way.items() if guest in paused},
    )
