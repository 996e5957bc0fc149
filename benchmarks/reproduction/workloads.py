"""Which jobs come in the experiments? Two workloads, both drawn from a seed.

`three_kinds`: the founding paper's set-up, as far as it is known: jobs bound by computation, by
communication and in between, on 10 Gb/s networks. Its networks, lengths and rates are not
published; ours are three well-known networks that differ in size and cost.

`six_applications`: the mix of the Pollux paper's workload (OSDI 2021), of applications whose speed
on real GPUs was measured and published.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from autoscaler.planning.snapshot.cluster_state import PlannedNode, PlannedPool
from autoscaler.planning.snapshot.job_terms import BatchRange
from autoscaler.planning.speed.throughput import ThroughputModel
from autoscaler.simulation.engine.truth.profiles import Profile
from autoscaler.simulation.engine.workload import arrivals as processes
from autoscaler.simulation.engine.workload.generators import (
    BY_GPU_TIME,
    Mix,
    WorkloadRecipe,
    generate,
    mean_length_seconds,
)
from autoscaler.simulation.engine.workload.lengths import FullRuns, Uniform
from autoscaler.simulation.engine.workload.trace import Trace

GPUS_PER_NODE: Final = 4
HOUR: Final = 3600.0
BYTES_PER_SECOND: Final = 10e9 / 8  # of the network
MOST_WORKERS: Final = 10
LENGTHS: Final = Uniform(shortest=600.0, longest=3600.0)  # on one GPU


class Arrivals(StrEnum):
    """How jobs come. Load 1 keeps every GPU busy if each job has one."""

    LOW = "low"  # Poisson
    HIGH = "high"  # Poisson
    BURSTY = "bursty"  # Poisson in bursts of half an hour, on average, with 45 minutes between


LOADS: Final = {Arrivals.LOW: 0.4, Arrivals.HIGH: 0.8, Arrivals.BURSTY: 0.8}


def pool(gpus: int) -> PlannedPool:
    nodes = (PlannedNode(name=f"n{i:03}", gpus=GPUS_PER_NODE) for i in range(gpus // GPUS_PER_NODE))
    return PlannedPool(name="default", nodes=tuple(nodes))


def three_kinds(arrivals: Arrivals, *, gpus: int, seconds: float, seed: int) -> Trace:
    """Jobs of three kinds in equal numbers, 10 to 60 minutes long on one GPU."""
    length = mean_length_seconds(KINDS, LENGTHS)
    rate = processes.rate_for_load(LOADS[arrivals], gpus=gpus, mean_length_seconds=length)
    workload = WorkloadRecipe(
        name=f"{arrivals}-{gpus}",
        arrivals=_process(arrivals, rate),
        seconds=seconds,
        mix=KINDS,
        lengths=LENGTHS,
        max_workers=MOST_WORKERS,
        requested_workers=tuple(range(1, MOST_WORKERS + 1)),
    )
    return generate(workload, seed=seed)


def six_applications(
    *, jobs: int, hours: float, seed: int, slack: tuple[float, float] | None = None
) -> Trace:
    """Full training runs of the six measured applications, by how common their GPU time is.

    `slack`: deadlines, as `WorkloadRecipe.deadline_slack`.
    """
    workload = WorkloadRecipe(
        name="six-applications",
        arrivals=processes.Poisson(per_second=jobs / (hours * HOUR)),
        jobs=jobs,
        mix=BY_GPU_TIME,
        lengths=FullRuns(),
        max_workers=64,
        deadline_slack=slack,
        requested_workers=(1, 1, 2, 4, 8, 16),  # guessed: what people ask for who must fix a number
    )
    return generate(workload, seed=seed)


def _process(arrivals: Arrivals, rate: float) -> processes.ArrivalProcess:
    if arrivals is Arrivals.BURSTY:
        return processes.Bursty(per_second=rate, mean_on_seconds=1800.0, mean_off_seconds=2700.0)
    return processes.Poisson(per_second=rate)


def _ring(megabytes: float) -> tuple[float, float]:
    """A ring all-reduce moves 2 (k-1)/k of the weights: a line through k = 2 and k = 10."""
    seconds = megabytes * 1e6 / BYTES_PER_SECOND
    at_two, at_most = seconds, 2 * (MOST_WORKERS - 1) / MOST_WORKERS * seconds
    return at_two, (at_most - at_two) / (MOST_WORKERS - 2)


def _kind(
    name: str, megabytes: float, per_second: float, batch: tuple[int, int], fits: int
) -> Profile:
    """A network whose training on one GPU makes so many samples a second with full memory."""
    fixed, per_worker = _ring(megabytes)
    overhead = 0.02  # seconds per step; guessed
    model = ThroughputModel(
        compute_fixed=overhead,
        compute_per_sample=1 / per_second - overhead / fits,
        in_node_fixed=fixed,
        in_node_per_worker=per_worker,
        cross_node_fixed=fixed,
        cross_node_per_worker=per_worker,
        overlap=1.0,
    )
    rules = BatchRange(
        base=fits,
        minimum=batch[0],
        maximum=batch[1],
        multiple_of=batch[0] // 4,
        max_per_gpu=fits,
        accumulation=False,
    )
    return Profile(
        name=name,
        model=model,
        batch=rules,
        samples=per_second * HOUR,
        model_bytes=round(megabytes * 1e6),
        restart_seconds=30.0,
    )


KINDS: Final[Mix] = (  # weights in MB, samples a second on one GPU, batches, what fits on one GPU
    (_kind("resnet50", 102, 220, (32, 256), 64), 1.0),
    (_kind("alexnet", 244, 2200, (128, 1024), 256), 1.0),
    (_kind("vgg16", 552, 130, (32, 256), 64), 1.0),
)
