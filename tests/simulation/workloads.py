"""Small workloads: say only what a test is about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from autoscaler.planning.snapshot.cluster_state import PlannedNode, PlannedPool
from autoscaler.planning.snapshot.job_terms import BatchRange
from autoscaler.planning.speed.throughput import ThroughputModel
from autoscaler.simulation.engine.replay.settings import HotRescale, Settings
from autoscaler.simulation.engine.truth.profiles import Profile
from autoscaler.simulation.engine.workload.trace import Trace, TraceJob

RULES = BatchRange(base=64, minimum=64, maximum=64)


def model(
    per_sample: float = 0.01, *, in_node: float = 0.0, cross_node: float = 0.0
) -> ThroughputModel:
    """100 samples per second and worker; the exchange costs so many seconds per step."""
    return ThroughputModel(
        compute_fixed=0.0,
        compute_per_sample=per_sample,
        in_node_fixed=in_node,
        in_node_per_worker=0.0,
        cross_node_fixed=cross_node,
        cross_node_per_worker=0.0,
        overlap=1.0,
    )


LINEAR = Profile(name="linear", model=model(), batch=RULES, samples=60_000)


def job(name: str, at: float = 0.0, **overrides: Any) -> TraceJob:
    """A minute of work on ten workers, on one worker of its own."""
    values: dict[str, Any] = {
        "team": "vision",
        "pool": "default",
        "profile": LINEAR,
        "samples": 60_000,
        "batch": RULES,
        "declared_samples": 60_000,
    }
    return TraceJob(name=name, submitted_at=at, **(values | overrides))


def trace(*jobs: TraceJob) -> Trace:
    return Trace(name="test", jobs=jobs)


def pool(*nodes: int, name: str = "default", **overrides: Any) -> PlannedPool:
    """A pool with nodes of so many GPUs, called n1, n2, ..."""
    return PlannedPool(
        name=name,
        nodes=tuple(PlannedNode(name=f"n{i}", gpus=gpus) for i, gpus in enumerate(nodes, 1)),
        **overrides,
    )


def settings(*pools: PlannedPool, **overrides: Any) -> Settings:
    """A tick every 10 s, 30 s to start, 20 s to join, 1 s of stall; every plan is checked."""
    made = Settings(
        pools=pools or (pool(4),),
        tick_seconds=10.0,
        rescale=HotRescale(stall=1.0, joiner_start=20.0, first_start=30.0),
        keeps_history=True,
        checks_invariants=True,
    )
    return replace(made, **overrides)
