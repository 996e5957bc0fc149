"""What is a number of GPUs worth to a job? A policy answers, as a small object.

The optimizer maximises the sum over all jobs of `worth(weight, speedup x factor)`, where the
factor is below 1 for every change of a running job: see `change_factor`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from autoscaler.planning.cluster_state import Job
    from autoscaler.planning.demand import Demand

MIN_GAIN: Final = 0.10  # guessed: above the noise of step times, well below what a GPU should bring
SMALLEST_FACTOR: Final = 0.01  # a young job may be forced to change, but never volunteers
FLOOR_GPU_SECONDS: Final = 60.0  # guessed: younger jobs count as if they had been served so long
SAME_LENGTH_RATIO: Final = 1.25  # guessed: lengths this close are partly a tie


class Policy(Protocol):
    """An objective. Weights are computed once per pool, over its admitted jobs."""

    name: str

    def weights(self, demands: Sequence[Demand]) -> Mapping[str, float]:
        """The weight of each job, by job id."""
        ...

    def worth(self, *, weight: float, speedup: float) -> float:
        """The value of running at `speedup` > 0, times the job's base rate."""
        ...


class Throughput:
    """The founding paper's objective: the plain sum of speedups."""

    name = "throughput"

    def weights(self, demands: Sequence[Demand]) -> Mapping[str, float]:
        return {demand.job.job_id: 1.0 for demand in demands}

    def worth(self, *, weight: float, speedup: float) -> float:
        return weight * speedup


class CompletionTime:
    """Short mean completion time: w_j * log(speedup), short jobs first but nobody at zero.

    w_j = 2 * rank_j - 1, rank 1 = most remaining work: the heSRPT shares for speedup exponent 1/2.
    Jobs of nearly the same length share a rank, so that noise does not turn the order round. A job
    of unknown length weighs (attained service)^-1/2, scaled to the mean weight of the pool.
    """

    name = "completion_time"

    def weights(self, demands: Sequence[Demand]) -> Mapping[str, float]:
        known = [d for d in demands if d.remaining_seconds is not None]
        unknown = [d for d in demands if d.remaining_seconds is None]
        ranks = _soft_ranks([d.remaining_seconds or 0.0 for d in known]) + 0.5 * len(unknown)
        weights = {d.job.job_id: float(2 * r - 1) for d, r in zip(known, ranks, strict=True)}
        shares = {d.job.job_id: _least_attained(d.job) for d in unknown}
        total = sum(shares.values())
        mean = len(demands)  # of 2 * rank - 1 over ranks 1..n
        return weights | {job: mean * len(unknown) * s / total for job, s in shares.items()}

    def worth(self, *, weight: float, speedup: float) -> float:
        return weight * math.log(speedup)


POLICIES: Final[Mapping[str, Policy]] = {
    policy.name: policy for policy in (CompletionTime(), Throughput())
}


def change_factor(job: Job, now: float) -> float:
    """What is left of a job's speed when it is rescaled once more: below 1, above 0.

    f = max(age - stall * rescales, 0) / (age + stall): a job that keeps stopping for changes has
    paid for them with its own time. On top a change must gain `MIN_GAIN`, or noise would decide.
    """
    age = max(now - job.started_at, 0.0) if job.started_at is not None else 0.0
    stall = max(job.stall_seconds, 0.0)
    lived = max(age - stall * job.rescales, 0.0)
    factor = lived / (age + stall) if age + stall > 0 else 0.0
    return max(factor, SMALLEST_FACTOR) * (1 - MIN_GAIN)


def _soft_ranks(lengths: Sequence[float]) -> np.typing.NDArray[np.float64]:
    """Rank 1 = longest. Two jobs whose lengths differ by less than the ratio share their places.

    Each pair hands out one place: all of it to the shorter job where the lengths clearly differ,
    in proportion to the logarithm of their ratio where they do not, half each where they are equal.
    """
    if not lengths:
        return np.zeros(0)
    log = np.log(np.maximum(np.array(lengths), 1e-3))
    lead = (log[None, :] - log[:, None]) / (2 * math.log(SAME_LENGTH_RATIO))
    return np.asarray(np.clip(0.5 + lead, 0.0, 1.0).sum(axis=1) + 0.5)


def _least_attained(job: Job) -> float:
    return 1 / math.sqrt(max(job.attained_gpu_seconds, FLOOR_GPU_SECONDS))
