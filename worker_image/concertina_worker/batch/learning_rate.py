"""By what is the script's learning rate multiplied, now that the platform chose the batch?

The script's rate belongs to its base batch. With another batch b it is scaled by b / base
(`linear`, Goyal et al. 2017), by the square root of that (`sqrt`, for adaptive optimizers), or not
at all. A jump hurts accuracy as long as momentum remembers the old rate, so the scale moves to
its target in a straight line over some steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from concertina_worker.protocol import LearningRateScaling


def scale_of(scaling: str, *, batch: int, base: int) -> float:
    """The multiplier that a batch calls for."""
    match LearningRateScaling(scaling):
        case LearningRateScaling.NONE:
            return 1.0
        case LearningRateScaling.LINEAR:
            return batch / base
        case LearningRateScaling.SQRT:
            return math.sqrt(batch / base)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ramp:
    """A multiplier that moves from `start` at `begun_at` to `target`, `steps` later."""

    start: float = 1.0
    target: float = 1.0
    begun_at: int = 0
    steps: int = 0

    def at(self, step: int) -> float:
        passed = step - self.begun_at
        if passed >= self.steps:
            return self.target
        return self.start + (self.target - self.start) * max(passed, 0) / self.steps

    def towards(self, target: float, *, step: int, steps: int) -> Ramp:
        """Turn to another target from wherever the ramp is at `step`."""
        if target == self.target:
            return self
        return Ramp(start=self.at(step), target=target, begun_at=step, steps=steps)
