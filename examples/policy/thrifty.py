"""A policy of one's own: no job gets a GPU that would mostly wait for the others.

Install it beside Concertina (`uv pip install examples/policy`), start the service again, and
choose `thrifty` for a pool in the admin pages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from autoscaler.planning.demand import Demand
from autoscaler.planning.policies import (
    NOT_WANTED,
    Objective,
    Policy,
    Situation,
    Sizes,
    Values,
    option,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Thrifty(Policy):
    """log S(k) where k workers are used well enough, whatever the pool's state."""

    name: ClassVar = "thrifty"
    summary: ClassVar = "gives jobs only sizes at which their GPUs are well used"

    least_share: float = option(
        0.8, "How much of k times the speed of one worker k workers must reach.", at_least=0.0
    )

    def objective(self, situation: Situation) -> Objective:
        def values(demand: Demand, sizes: Sizes) -> Values:
            per_worker = sizes.speedups / sizes.workers
            is_well_used = per_worker >= self.least_share * per_worker[0]
            return np.where(is_well_used, np.log(sizes.speedups), NOT_WANTED)

        return values
