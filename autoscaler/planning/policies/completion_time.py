"""Short mean completion time: short jobs first, but nobody at zero."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from autoscaler.planning.policies.policy import Objective, Policy, Situation, Sizes, Values

if TYPE_CHECKING:
    from autoscaler.planning.demand import Demand
    from autoscaler.planning.snapshot.cluster_state import PlannedJob

FLOOR_GPU_SECONDS: Final = 60.0  # guessed: younger jobs count as if they had been served so long
SAME_LENGTH_RATIO: Final = 1.25  # guessed: lengths this close are partly a tie


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionTime(Policy):
    """Every job values k workers at w_j * log(S_j(k)); see `weights` for w_j."""

    name: ClassVar = "completion_time"
    summary: ClassVar = "makes jobs end early on average: short jobs first, nobody at zero"

    def objective(self, situation: Situation) -> Objective:
        weight = weights(situation.demands)

        def values(demand: Demand, sizes: Sizes) -> Values:
            return weight[demand.job.job_id] * np.log(sizes.speedups)

        return values


def weights(demands: Sequence[Demand]) -> Mapping[str, float]:
    """Return how much each job counts, by job id; the mean weight of a pool is its number of jobs.

    w_j = 2 * rank_j - 1, rank 1 = most remaining work: the heSRPT shares for speedup exponent 1/2.
    Jobs of nearly the same length share a rank, so that noise does not turn the order round. A job
    of unknown length weighs (attained service)^-1/2, scaled to the mean weight of the pool.
    """
    known = [d for d in demands if d.remaining_seconds is not None]
    unknown = [d for d in demands if d.remaining_seconds is None]
    ranks = _soft_ranks([d.remaining_seconds or 0.0 for d in known]) + 0.5 * len(unknown)
    ranked = {d.job.job_id: float(2 * r - 1) for d, r in zip(known, ranks, strict=True)}
    shares = {d.job.job_id: _least_attained(d.job) for d in unknown}
    total = sum(shares.values())
    mean = len(demands)  # of 2 * rank - 1 over ranks 1..n
    return ranked | {job: mean * len(unknown) * s / total for job, s in shares.items()}


def _soft_ranks(lengths: Sequence[float]) -> np.typing.NDArray[np.float64]:
    """Rank 1 = longest. Two jobs whose lengths differ by less than the ratio share their places.

    Each pair hands out one place: all of it to the shorter job where the lengths clearly differ,
    in proportion to the logarithm of their ratio where they do not, half each where they are equal.
    """
    log = np.log(np.maximum(np.array(lengths, dtype=float), 1e-3))
    ascending, reach = np.sort(log), math.log(SAME_LENGTH_RATIO)
    sums = np.concatenate(([0.0], np.cumsum(ascending)))
    first = np.searchsorted(ascending, log - reach)  # of those it shares places with
    longer = np.searchsorted(ascending, log + reach)  # first of those that are clearly longer
    near = longer - first
    shared = 0.5 * near + (sums[longer] - sums[first] - near * log) / (2 * reach)
    return np.asarray(len(log) - longer + shared + 0.5)


def _least_attained(job: PlannedJob) -> float:
    return 1 / math.sqrt(max(job.attained_gpu_seconds, FLOOR_GPU_SECONDS))
