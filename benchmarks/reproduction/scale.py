"""How much is simulated? Everything, or little enough for a test of the report itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """One size of the founding paper's experiment."""

    gpus: int
    hours: float
    tick_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Sizes of all experiments."""

    name: str
    clusters: tuple[Cluster, ...]
    application_jobs: int  # per workload of the six applications, on 64 GPUs
    application_hours: float
    lone_job_share: float  # how much of each job that has the cluster to itself
    seeds: tuple[int, ...]
    varied_seeds: tuple[int, ...]  # of deadlines, and where one assumption is varied at a time
    steps: int  # of each sensitivity curve: every so many of its points


FULL: Final = Scale(
    name="full",
    clusters=(
        Cluster(gpus=40, hours=24.0, tick_seconds=60.0),
        Cluster(gpus=400, hours=6.0, tick_seconds=300.0),
    ),
    application_jobs=160,
    application_hours=8.0,
    lone_job_share=1.0,
    seeds=(0, 1),
    varied_seeds=(0,),
    steps=1,
)
QUICK: Final = Scale(
    name="quick",
    clusters=(Cluster(gpus=40, hours=1.0, tick_seconds=300.0),),
    application_jobs=3,
    application_hours=0.3,
    lone_job_share=0.1,
    seeds=(0,),
    varied_seeds=(0,),
    steps=7,
)
