"""The most work per second: the founding paper's objective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from autoscaler.planning.policies.policy import Objective, Policy, Situation, Sizes, Values

if TYPE_CHECKING:
    from autoscaler.planning.demand import Demand


@dataclass(frozen=True, slots=True, kw_only=True)
class Throughput(Policy):
    """Every job values k workers at S_j(k), with the best batch: *Effective Elastic Scaling*."""

    name: ClassVar = "throughput"
    summary: ClassVar = "makes the sum of all speedups as large as it can be"

    def objective(self, situation: Situation) -> Objective:
        return _speedups


def _speedups(demand: Demand, sizes: Sizes) -> Values:
    return sizes.speedups
