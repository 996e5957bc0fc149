"""How long does one decision take? Run `python benchmarks/decision_time.py`.

Prints medians on this machine for pools of growing size: the optimizer alone (the exact split of
the GPUs among the admitted jobs), and a whole `plan()` on a running cluster, with every job's
throughput model in the snapshot.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter

from autoscaler.planning.decisions.invariants import check
from autoscaler.planning.demand import demand_of
from autoscaler.planning.fitting.fitting import fit
from autoscaler.planning.optimizer import AllocationProblem, Bounds, SizeChoice, solve
from autoscaler.planning.planner import plan
from autoscaler.planning.snapshot.cluster_state import (
    Allocation,
    ClusterState,
    JobPhase,
    PlannedJob,
    PlannedNode,
    PlannedPool,
    StepTime,
    TeamQuota,
)
from autoscaler.planning.snapshot.job_terms import BatchRange
from autoscaler.planning.snapshot.vocabulary import Preemptibility

SIZES = ((4, 4), (10, 16), (25, 100), (100, 400), (200, 1000), (500, 2000))  # jobs, GPUs
GPUS_PER_NODE = 8
TEAMS = ("audio", "language", "planning", "vision")
SLOW_SECONDS = 5.0  # sizes that take longer are repeated less often


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Medians in milliseconds."""

    jobs: int
    gpus: int
    optimizer: float
    plan: float
    check: float


def main() -> None:
    columns = ("optimizer", "plan", "check")
    print(f"{'jobs':>6} {'GPUs':>6} " + " ".join(f"{column:>12}" for column in columns))
    for jobs, gpus in SIZES:
        row = measure(jobs, gpus)
        times = (row.optimizer, row.plan, row.check)
        print(f"{row.jobs:>6} {row.gpus:>6} " + " ".join(f"{time:>9.1f} ms" for time in times))


def measure(jobs: int, gpus: int) -> Row:
    state = cluster(jobs, gpus)
    claims, bounds = claims_of(state)
    first = plan(state)
    assert not check(state, first)
    assert all(pool.gap == 0 for pool in first.pools)
    return Row(
        jobs=jobs,
        gpus=gpus,
        optimizer=milliseconds(
            lambda: solve(AllocationProblem.of(claims, gpus=gpus, bounds=bounds))
        ),
        plan=milliseconds(lambda: plan(state)),
        check=milliseconds(lambda: check(state, first)),
    )


def milliseconds(run: Callable[[], object]) -> float:
    taken: list[float] = []
    while len(taken) < 3 or (len(taken) < 15 and sum(taken) < SLOW_SECONDS):
        started = perf_counter()
        run()
        taken.append(perf_counter() - started)
    return 1000 * median(taken)


def cluster(jobs: int, gpus: int) -> ClusterState:
    """A running cluster: every job on a GPU or more, four teams with guarantees, mixed scaling."""
    rng = random.Random(jobs)  # noqa: S311 - instances, not secrets
    per_node = min(GPUS_PER_NODE, gpus)
    nodes = tuple(PlannedNode(name=f"n{i}", gpus=per_node) for i in range(gpus // per_node))
    seats = [node.name for node in nodes for _ in range(node.gpus)]
    share = max(gpus // jobs, 1)
    return ClusterState(
        now=10_000.0,
        pools=(PlannedPool(name="default", nodes=nodes),),
        quotas=tuple(
            TeamQuota(team=team, pool="default", guaranteed_gpus=gpus // 4) for team in TEAMS
        ),
        jobs=tuple(
            job(number, tuple(seats[number * share : (number + 1) * share]), rng)
            for number in range(jobs)
        ),
    )


def job(number: int, seats: tuple[str, ...], rng: random.Random) -> PlannedJob:
    workers = rng.randint(1, len(seats)) if seats else 0
    placement = {name: seats[:workers].count(name) for name in seats[:workers]}
    exchange = rng.uniform(0.0, 0.05)  # seconds per step and further worker
    return PlannedJob(
        job_id=f"job{number:04}",
        name=f"job{number:04}",
        team=TEAMS[number % len(TEAMS)],
        pool="default",
        phase=JobPhase.ACTIVE if workers else JobPhase.WAITING,
        priority=50,
        preemptibility=Preemptibility.PREEMPTIBLE,
        submitted_at=float(number),
        min_workers=1,
        max_workers=64,
        allowed_workers=None,
        gpus_per_worker=1,
        batch=BatchRange(base=256, minimum=64, maximum=8192, multiple_of=8),
        allocation=Allocation(workers_by_node=tuple(placement.items()), global_batch_size=256)
        if workers
        else None,
        started_at=float(number) if workers else None,
        remaining_samples=rng.randint(10_000, 10_000_000),
        model_bytes=rng.randint(1, 500) * 1_000_000,
        scaling=fit(
            StepTime(
                workers=k,
                nodes=1,
                global_batch_size=256,
                steps=100,
                step_seconds=rng.uniform(0.95, 1.05) * (0.5 / k + exchange * (k - 1)),
            )
            for k in (1, 2, 4, 8)
        ),
    )


def claims_of(state: ClusterState) -> tuple[list[SizeChoice], dict[str, Bounds]]:
    """What the optimizer is asked within `plan`, every option allowed."""
    pool = state.pools[0]
    claims = []
    for job in state.jobs:
        sizes = demand_of(job, pool).sizes
        claims.append(
            SizeChoice(
                job_id=job.job_id,
                team=job.team,
                gpus=tuple(size.workers for size in sizes),
                values=tuple(math.log(size.speedup) for size in sizes),
            )
        )
    return claims, {team: Bounds(most=sum(n.gpus for n in pool.nodes) // 2) for team in TEAMS}


if __name__ == "__main__":
    main()
