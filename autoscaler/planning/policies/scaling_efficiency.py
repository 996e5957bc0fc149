"""Grow while it scales: the first heuristic of *Resource Elasticity*."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from autoscaler.planning.policies.options import option
from autoscaler.planning.policies.policy import Objective, Policy, Situation, Sizes, Values, up_to

if TYPE_CHECKING:
    from autoscaler.planning.demand import Demand


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingEfficiency(Policy):
    """S_j(k), as far as each step up still scales better than `threshold`.

    Where the pool is too small for all, GPUs go where they speed up most.
    """

    name: ClassVar = "scaling_efficiency"
    summary: ClassVar = "grows each job as long as it scales better than a threshold"

    threshold: float = option(
        0.1,
        "A job grows while each further worker brings more than this share of what its workers"
        " bring on average. 1: only while it scales perfectly; 0: as long as it gets faster.",
        at_least=0.0,
    )

    def objective(self, situation: Situation) -> Objective:
        def values(demand: Demand, sizes: Sizes) -> Values:
            return up_to(sizes.speedups, last_efficient(sizes, self.threshold))

        return values


def last_efficient(sizes: Sizes, threshold: float) -> int:
    """Index of the smaller size of the first step up that does not scale.

    The efficiency of a step from k to l workers is what each added worker brings, as a share of
    what the k bring on average:

        s = ((S(l) - S(k)) / (l - k)) / (S(k) / k)        1: perfect, 0: no gain
    """
    added = np.diff(sizes.speedups) / np.diff(sizes.workers)
    average = sizes.speedups[:-1] / sizes.workers[:-1]
    failing = np.flatnonzero(added <= threshold * average)
    return int(failing[0]) if failing.size else len(sizes.workers) - 1
