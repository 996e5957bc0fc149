"""Results of simulations that never were, for tests of what is made of them."""

from __future__ import annotations

from typing import Any

from autoscaler.simulation.engine.results.records import (
    AllocationSpan,
    JobRecord,
    SimulationResult,
    UsageSample,
)


def record(name: str = "job", **changes: Any) -> JobRecord:
    """A job that came at 0, ran on one worker from 10 to 100, and kept to its share."""
    fields = {
        "name": name,
        "job_id": name,
        "team": "vision",
        "pool": "default",
        "profile": "balanced",
        "submitted_at": 0.0,
        "first_started_at": 10.0,
        "finished_at": 100.0,
        "dropped_at": None,
        "rescales": 0,
        "pauses": 0,
        "losses": 0,
        "stall_seconds": 0.0,
        "gpu_seconds": 90.0,
        "samples": 1000.0,
        "samples_done": 1000.0,
        "deadline": None,
        "mean_contention": 1.0,
        "isolated_seconds": 100.0,
        "history": (span(10.0, 1),),
        **changes,
    }
    return JobRecord(**fields)


def span(since: float, workers: int) -> AllocationSpan:
    return AllocationSpan(since=since, workers=workers, nodes=1, global_batch_size=64)


def sample(time: float, gpus: int, *, speedup: float = 0.0, waiting: int = 0) -> UsageSample:
    return UsageSample(
        time=time,
        pool="default",
        gpus_by_team={"vision": gpus},
        waiting_by_team={"vision": waiting},
        speedup=speedup,
    )


def result(*jobs: JobRecord, ended_at: float = 100.0, **changes: Any) -> SimulationResult:
    fields = {
        "trace": "made",
        "started_at": 0.0,
        "ended_at": ended_at,
        "jobs": jobs,
        "usage": (),
        "plans": 10,
        "decision_seconds": (),
        **changes,
    }
    return SimulationResult(**fields)
