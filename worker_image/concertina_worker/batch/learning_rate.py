"""By what is the script's learning rate multiplied, now that the platform chose the batch?

The script's rate belongs to its base batch. With another batch b it is multiplied, by the job's
`lr_scaling`, with

    none      1
    linear    b / base                  Goyal et al. 2017, for SGD
    sqrt      the square root of that   Krizhevsky 2014, for adaptive optimizers such as Adam
    adascale  the gain of a step        Johnson et al. 2020; its square root for adaptive ones
    custom    what a function of the script's own says

AdaScale's gain (b / base) * EFF(b) says how many steps of the base batch one step of b is worth;
EFF is the efficiency of `noise_scale`. It lies between 1, where the gradient has no noise that a
larger batch could average out, and b / base.

A jump hurts accuracy as long as momentum remembers the old rate (Lin et al. 2019), so after a
change of batch the multiplier moves to its new value in a straight line over some steps.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass

from concertina_worker.batch.noise_scale import efficiency
from concertina_worker.protocol import BatchRules, LearningRateScaling

CustomScaling = Callable[[int, int], float]
"""(batch, base) -> multiplier."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ramp:
    """A multiplier on its way from `start` to what `batch` calls for; there after `steps`."""

    batch: int = 0  # 0: training has not begun
    start: float = 1.0
    begun_at: int = 0
    steps: int = 0

    def part_at(self, step: int) -> float:
        """Return how much of the way is done, 0 to 1."""
        passed = step - self.begun_at
        return 1.0 if passed >= self.steps else max(passed, 0) / self.steps


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningRateRule:
    """How the learning rate of one job follows its batch."""

    scaling: LearningRateScaling = LearningRateScaling.NONE
    base: int
    warmup_steps: int = 0
    custom: CustomScaling | None = None  # for `custom` only

    @classmethod
    def of(cls, rules: BatchRules, *, custom: CustomScaling | None) -> LearningRateRule:
        return cls(
            scaling=LearningRateScaling(rules["lr_scaling"]),
            base=rules["base"],
            warmup_steps=rules["lr_warmup_steps"],
            custom=custom,
        )

    def at(self, ramp: Ramp, step: int, noise_scale: float | None = None) -> float:
        """The multiplier of a step."""
        if not ramp.batch:
            return ramp.start
        target = self.multiplier(ramp.batch, noise_scale)
        return ramp.start + (target - ramp.start) * ramp.part_at(step)

    def suited(self, multiplier: float, *, to_adaptive: bool) -> float:
        """AdaScale's gain is for SGD; for optimizers like Adam its square root."""
        return math.sqrt(multiplier) if self.follows_worth and to_adaptive else multiplier

    def turned(
        self, ramp: Ramp, batch: int, *, step: int, noise_scale: float | None = None
    ) -> Ramp:
        """The ramp from where it is now to another batch; for the same batch it stays as it is."""
        if batch == ramp.batch:
            return ramp
        present = self.at(ramp, step, noise_scale)
        return Ramp(batch=batch, start=present, begun_at=step, steps=self.warmup_steps)

    def multiplier(self, batch: int, noise_scale: float | None = None) -> float:
        """Return what a batch calls for, once the ramp is over."""
        growth = batch / self.base
        match self.scaling:
            case LearningRateScaling.NONE:
                return 1.0
            case LearningRateScaling.LINEAR:
                return growth
            case LearningRateScaling.SQRT:
                return math.sqrt(growth)
            case LearningRateScaling.ADASCALE:
                return growth * self.efficiency(batch, noise_scale)
            case LearningRateScaling.CUSTOM:
                return self._custom_multiplier(batch)

    @property
    def follows_worth(self) -> bool:
        """Training is measured by what its steps are worth, not by its samples."""
        return self.scaling is LearningRateScaling.ADASCALE

    def efficiency(self, batch: int, noise_scale: float | None) -> float:
        """Return what a sample of such a batch counts, compared with one of the base batch.

        1 except under AdaScale, which alone knows that the steps of a large batch carry a
        training less far than its samples say; there, unknown noise counts as none.
        """
        if not self.follows_worth:
            return 1.0
        return efficiency(batch, base=self.base, noise_scale=noise_scale or 0.0)

    def _custom_multiplier(self, batch: int) -> float:
        if self.custom is None:
            raise MissingScalingError
        multiplier = float(self.custom(batch, self.base))
        if not (math.isfinite(multiplier) and multiplier > 0):
            raise WrongMultiplierError(batch=batch, base=self.base, multiplier=multiplier)
        return multiplier


def check_scaling(rules: BatchRules | None, custom: CustomScaling | None) -> None:
    """The job's spec and its script must agree on who scales the learning rate.

    Raises:
        MissingScalingError: the spec counts on a function of the script's.
    """
    if rules is None:  # alone, at the base batch
        return
    scaling = rules["lr_scaling"]
    if scaling == LearningRateScaling.CUSTOM and custom is None:
        raise MissingScalingError
    if scaling != LearningRateScaling.CUSTOM and custom is not None:
        warnings.warn(
            f"register(lr_scaling=…) is not used: the job says `lr_scaling: {scaling}`."
            " Let its spec say `lr_scaling: custom`, or leave the function out.",
            stacklevel=4,  # the script's line
        )


class MissingScalingError(Exception):
    """The job says `lr_scaling: custom`, but the script gave no function.

    Call job.register(…, lr_scaling=lambda batch, base: …): the multiplier of the learning rate.
    """

    def __init__(self) -> None:
        super().__init__(self.__doc__)


class WrongMultiplierError(Exception):
    """The script's `lr_scaling` function answered with something that multiplies no rate."""

    def __init__(self, *, batch: int, base: int, multiplier: float) -> None:
        super().__init__(
            f"lr_scaling(batch={batch}, base={base}) is {multiplier}: expected a number above 0"
        )
        self.multiplier = multiplier
