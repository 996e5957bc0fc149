"""How well did a cluster serve a workload? One simulation in a dozen figures.

Completion times are those of finished jobs only, so they say nothing without the counts beside
them: a policy that drops or never reaches its long jobs has fine completion times.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from autoscaler.simulation.engine.results.records import SimulationResult

_HOUR: Final = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Figures of one simulation. None: no job gives the figure, or nobody held a clock.

    `utilisation` is the share of all GPU time of the simulation that jobs held.
    `scaling_efficiency` is the sum of speedups (true rate over that of the job's smallest size)
    per GPU held, over time: 1 where every GPU works as well as a job's first.
    `worst_fairness` is the largest finish-time fairness rho (Themis, NSDI 2020): completion time
    over what it would have been alone on the job's share of the pool.
    """

    jobs: int
    done: int
    dropped: int
    backlog: int
    mean_completion_seconds: float | None
    p50_completion_seconds: float | None
    p99_completion_seconds: float | None
    mean_wait_seconds: float | None
    makespan_seconds: float | None
    gpu_hours: float
    utilisation: float
    scaling_efficiency: float | None
    rescales_per_job: float
    pauses_per_job: float
    worst_fairness: float | None
    deadlines_met: float | None
    mean_decision_seconds: float | None
    max_decision_seconds: float | None


def summarise(result: SimulationResult, *, gpus: int) -> Summary:
    """The figures of one simulation on a cluster of so many GPUs."""
    jobs = result.jobs
    taken = [seconds for job in jobs if (seconds := job.completion_seconds) is not None]
    waits = [j.first_started_at - j.submitted_at for j in jobs if j.first_started_at is not None]
    met = [is_met for job in jobs if (is_met := job.met_deadline) is not None]
    held = sum(job.gpu_seconds for job in jobs)
    lasted = result.ended_at - result.started_at
    return Summary(
        jobs=len(jobs),
        done=len(taken),
        dropped=sum(job.dropped_at is not None for job in jobs),
        backlog=sum(job.is_backlog for job in jobs),
        mean_completion_seconds=mean(taken),
        p50_completion_seconds=percentile(taken, 0.50),
        p99_completion_seconds=percentile(taken, 0.99),
        mean_wait_seconds=mean(waits),
        makespan_seconds=_makespan(result),
        gpu_hours=held / _HOUR,
        utilisation=held / (gpus * lasted) if gpus and lasted > 0 else 0.0,
        scaling_efficiency=_scaling_efficiency(result),
        rescales_per_job=mean([job.rescales for job in jobs]) or 0.0,
        pauses_per_job=mean([job.pauses for job in jobs]) or 0.0,
        worst_fairness=max(
            (rho for job in jobs if (rho := job.fairness) is not None), default=None
        ),
        deadlines_met=mean(met),
        mean_decision_seconds=mean(result.decision_seconds),
        max_decision_seconds=max(result.decision_seconds, default=None),
    )


def mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def percentile(values: Sequence[float], share: float) -> float | None:
    """The smallest value that at least this share of all values does not exceed."""
    if not values:
        return None
    return sorted(values)[max(math.ceil(share * len(values)) - 1, 0)]


def _makespan(result: SimulationResult) -> float | None:
    """Return the time from the first submission to the last end of a job."""
    ends = [job.finished_at for job in result.jobs if job.finished_at is not None]
    return max(ends) - min(job.submitted_at for job in result.jobs) if ends else None


def _scaling_efficiency(result: SimulationResult) -> float | None:
    """Both integrals over time; each sample holds until the next one of its pool."""
    speedup_seconds = gpu_seconds = 0.0
    until: dict[str, float] = {}
    for sample in reversed(result.usage):
        lasts = until.get(sample.pool, result.ended_at) - sample.time
        until[sample.pool] = sample.time
        speedup_seconds += sample.speedup * lasts
        gpu_seconds += sample.gpus_used * lasts
    return speedup_seconds / gpu_seconds if gpu_seconds > 0 else None
