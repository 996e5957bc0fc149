"""Hypothesis strategies: any cluster the control loop could observe, in the middle of anything."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from autoscaler.planning.policies import BUILT_IN
from autoscaler.planning.snapshot.cluster_state import (
    Allocation,
    ClusterState,
    PlannedJob,
    PlannedNode,
    PlannedPool,
    ReclaimRules,
    StepTime,
    TeamQuota,
)
from autoscaler.planning.snapshot.job_terms import BatchRange, Utility
from autoscaler.planning.snapshot.vocabulary import AdmissionVariant, Preemptibility, ReclaimTarget
from tests.planning.builders import NOW, running, waiting

TEAMS = ("vision", "language", "speech")
CONSTANT_BATCH = BatchRange(base=64, minimum=64, maximum=64)
BATCHES = (
    CONSTANT_BATCH,
    BatchRange(base=64, minimum=32, maximum=1024, multiple_of=8),
    BatchRange(base=64, minimum=64, maximum=4096, max_per_gpu=64, accumulation=False),
)


POLICIES = (
    *(["completion_time"] * len(BUILT_IN.names)),
    *BUILT_IN.names,
    "fixed_batch:batch=min",
    "fixed_batch:batch=random",
    "scaling_efficiency:threshold=0.5",
)


@st.composite
def states(draw: st.DrawFn, *, calm: bool = False) -> ClusterState:
    """Calm: no change under way, no cooldown, no closed node, and constant batches.

    No job holds more then than it could be given, by what was measured of it.
    """
    nodes = tuple(
        PlannedNode(name=f"n{i}", gpus=gpus, is_schedulable=calm or draw(st.integers(0, 6)) > 0)
        for i, gpus in enumerate(draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)), 1)
    )
    free = {node.name: node.gpus for node in nodes}
    count = draw(st.integers(0, 7))
    jobs = tuple(draw(_job(number, free, calm=calm)) for number in range(count))
    quotas = draw(_quotas())
    pool = PlannedPool(
        name="default",
        nodes=nodes,
        policy=draw(st.sampled_from(POLICIES)),
        admission=draw(st.sampled_from(AdmissionVariant)),
        dollars_per_gpu_hour=2.0,
        reclaim=ReclaimRules(target=draw(st.sampled_from(ReclaimTarget))),
        usage_weight=draw(st.sampled_from((0.0, 0.0, 1.0))),
    )
    return ClusterState(now=NOW, pools=(pool,), quotas=quotas, jobs=jobs)


@st.composite
def _quotas(draw: st.DrawFn) -> tuple[TeamQuota, ...]:
    """Settings that do not contradict each other: a parent is promised what its children are."""
    teams = TEAMS[: draw(st.integers(0, 3))]
    quotas: list[TeamQuota] = []
    for number, team in reversed(list(enumerate(teams))):
        below = sum(quota.guaranteed_gpus for quota in quotas if quota.parent == team)
        guaranteed = below + draw(st.integers(0, 4 if not below else 1))
        quotas.append(
            TeamQuota(
                team=team,
                pool="default",
                guaranteed_gpus=guaranteed,
                limit_gpus=draw(st.sampled_from((None, None, max(guaranteed, 2), guaranteed + 2))),
                over_quota_weight=draw(st.sampled_from((0.5, 1.0, 2.0))),
                parent=draw(st.sampled_from((None, None, *teams[:number]))),
                lending_limit_gpus=draw(st.sampled_from((None, None, 0, guaranteed // 2))),
                decayed_gpu_seconds=draw(st.sampled_from((0.0, 1e5))),
                user_limit_gpus=draw(st.sampled_from((None, None, 1, 2, 4))),
            )
        )
    return tuple(quotas)


@st.composite
def _job(draw: st.DrawFn, number: int, free: dict[str, int], *, calm: bool) -> PlannedJob:
    smallest = draw(st.integers(1, 3))
    largest = smallest + draw(st.integers(0, 4))
    job = waiting(
        f"j{number}",
        draw(st.sampled_from(TEAMS)),
        priority=draw(st.sampled_from((10, 50, 50, 90))),
        preemptibility=draw(st.sampled_from((*Preemptibility, Preemptibility.PREEMPTIBLE))),
        submitted_at=NOW - draw(st.integers(0, 1000)),
        min_workers=smallest,
        max_workers=largest,
        allowed_workers=draw(st.sampled_from((None, None, tuple(range(smallest, largest + 1, 2))))),
        gpus_per_worker=1 if calm else draw(st.sampled_from((1, 1, 1, 2))),
        batch=CONSTANT_BATCH if calm else draw(st.sampled_from(BATCHES)),
        remaining_samples=draw(st.sampled_from((None, 0, 1000, 50_000, 60_000, 10**7))),
        deadline=draw(st.sampled_from((None, NOW + 100, NOW + 10_000, NOW - 1))),
        utility=draw(st.sampled_from((None, Utility(points=((0.0, 50.0), (3600.0, 0.0)))))),
        requested_workers=draw(st.sampled_from((None, 2))),
        attained_gpu_seconds=draw(st.sampled_from((0.0, 100.0, 5000.0))),
        measurements=draw(_measurements()),
        user=draw(st.sampled_from(("", "ann", "ann", "bob"))),
        is_measurable=draw(st.sampled_from((True, True, False))),
    )
    return draw(_holding(job, free, calm=calm)) if draw(st.booleans()) else job


@st.composite
def _measurements(draw: st.DrawFn) -> tuple[StepTime, ...]:
    sizes = draw(st.lists(st.sampled_from((1, 2, 3, 4, 6)), unique=True, max_size=4))
    exponent = draw(st.sampled_from((-0.3, 0.0, 0.1, 0.5, 0.9, 1.0)))
    return tuple(
        StepTime(
            workers=k,
            nodes=1,
            global_batch_size=64,
            steps=20,
            step_seconds=0.5 / k**exponent,
        )
        for k in sizes
    )


@st.composite
def _holding(draw: st.DrawFn, job: PlannedJob, free: dict[str, int], *, calm: bool) -> PlannedJob:
    """The job running on GPUs nobody holds yet; a lost worker may have left it below its range."""
    placement: dict[str, int] = {}
    counts = job.allowed_workers or range(job.min_workers, job.max_workers + 1)
    is_measured = job.scaling is not None and job.scaling.measured_workers > 0
    may_grow = is_measured or not calm
    wanted = draw(st.sampled_from([c for c in counts if may_grow or c <= job.min_workers]))
    for node, gpus in free.items():
        fitting = min(wanted - sum(placement.values()), gpus // job.gpus_per_worker)
        if fitting > 0:
            placement[node] = fitting
    if sum(placement.values()) < (job.min_workers if calm else 1):
        return job
    if calm and job.allowed_workers and sum(placement.values()) not in job.allowed_workers:
        return job
    for node, count in placement.items():
        free[node] -= count * job.gpus_per_worker
    held = running(
        job.job_id,
        0,
        job.team,
        on=tuple(placement.items()),
        started_at=NOW - draw(st.sampled_from((0, 5, 1000))),
        rescales=draw(st.integers(0, 5)),
        submitted_at=job.submitted_at,
    )
    job = replace(
        job,
        phase=held.phase,
        allocation=held.allocation,
        started_at=held.started_at,
        rescales=held.rescales,
    )
    return job if calm else draw(_under_way(job))


@st.composite
def _under_way(draw: st.DrawFn, job: PlannedJob) -> PlannedJob:
    match draw(st.sampled_from(("settled", "settled", "cooling", "pinned", "fixed", "leaving"))):
        case "cooling":
            return replace(job, last_rescaled_at=NOW - 5, min_interval_seconds=60.0)
        case "pinned":
            return replace(job, can_rescale=False)
        case "fixed":
            return replace(job, can_rescale=False, can_pause=True)
        case "leaving":
            nothing = Allocation(workers_by_node=(), global_batch_size=64)
            return replace(job, can_rescale=False, target=nothing)
        case _:
            return job
