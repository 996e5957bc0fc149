"""Equal shares: whoever came first gets what does not divide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from autoscaler.planning.policies.policy import Objective, Policy, Situation, Sizes, Values

if TYPE_CHECKING:
    from autoscaler.planning.demand import Demand

_HEAD_START: Final = 1e-3  # breaks ties among equal shares, and is too small to do more


@dataclass(frozen=True, slots=True, kw_only=True)
class ElasticFifo(Policy):
    """Every job values k workers at the logarithm of their GPUs, whatever it does with them.

    Sums of logarithms are largest where shares are equal. Of jobs with equal shares the one that
    was submitted first counts slightly more, and so gets the GPU that is left over.
    """

    name: ClassVar = "elastic_fifo"
    summary: ClassVar = "gives equal shares, first come, first served (a baseline)"

    def objective(self, situation: Situation) -> Objective:
        order = sorted(situation.demands, key=lambda d: (d.job.submitted_at, d.job.job_id))
        behind = {d.job.job_id: place / len(order) for place, d in enumerate(order)}

        def values(demand: Demand, sizes: Sizes) -> Values:
            weight = 1 + _HEAD_START * (1 - behind[demand.job.job_id])
            return weight * np.log(sizes.workers * demand.job.gpus_per_worker)

        return values
