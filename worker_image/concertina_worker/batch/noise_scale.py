"""How noisy is the gradient, and how much of a sample's worth is left when the batch grows?

The noise scale phi = tr(Sigma) / |G|², with Sigma the covariance of one sample's gradient and G
the true gradient, is the batch at which noise and signal are equally strong (McCandlish et al.
2018, B_simple). A sample of a batch b moves training as far as

    EFF(b) = (phi + base) / (phi + b)

samples of the base batch do (Pollux, OSDI 2021); below the base no more than those.

Estimate. A step's batch of B samples is computed in n parts; part i has the share w_i of the
samples and the gradient g_i, and g = sum of w_i * g_i. Averaged over all draws of samples

    E[sum of w_i * |g_i|²] = |G|² + n * tr(Sigma) / B        E[|g|²] = |G|² + tr(Sigma) / B

however uneven the shares are, because w_i cancels the size of part i. Two equations, two
unknowns: both estimates are unbiased. Their ratio is not, so each is averaged over many steps
before they are divided.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

RECENT_WEIGHT: Final = 0.02  # guessed: of a new measurement; the last 50 count
FEWEST_MEASUREMENTS: Final = 10  # guessed: the quotient of fewer may be anything


def efficiency(batch: int, *, base: int, noise_scale: float) -> float:
    """EFF(b), between 0 and 1; with infinite noise every sample counts fully."""
    if math.isinf(noise_scale):
        return 1.0
    return min((noise_scale + base) / (noise_scale + batch), 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SquaredNorms:
    """Squared lengths of the gradients of one step of B samples, before and after the sum.

    Multiplied by the square of the scale when the script scales its loss.
    """

    of_parts: float  # sum over the parts of w_i * |g_i|²
    parts: int  # n: micro-batches over all workers, or successive steps
    of_sum: float  # |g|²

    @property
    def are_usable(self) -> bool:
        """Two parts at least, and no overflow of half precision in them."""
        return self.parts > 1 and math.isfinite(self.of_parts) and math.isfinite(self.of_sum)

    def noise(self, samples: int) -> float:
        """Unbiased estimate of tr(Sigma) from a step of so many samples; may be negative."""
        return samples * (self.of_parts - self.of_sum) / (self.parts - 1)

    @property
    def signal(self) -> float:
        """Unbiased estimate of |G|²; may be negative."""
        return (self.parts * self.of_sum - self.of_parts) / (self.parts - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseAverage:
    """Noise and signal, averaged over the latest measurements."""

    noise: float = 0.0
    signal: float = 0.0
    measurements: int = 0

    def with_step(self, norms: SquaredNorms, *, samples: int) -> NoiseAverage:
        """A plain mean at first, then recent measurements weigh more."""
        if not norms.are_usable:
            return self
        weight = max(1 / (self.measurements + 1), RECENT_WEIGHT)
        return NoiseAverage(
            noise=self.noise + weight * (norms.noise(samples) - self.noise),
            signal=self.signal + weight * (norms.signal - self.signal),
            measurements=self.measurements + 1,
        )

    @property
    def scale(self) -> float | None:
        """The scale in samples: infinite where no signal is seen; None: not measured."""
        if not self.measurements:
            return None
        noise = max(self.noise, 0.0)
        return noise / self.signal if self.signal > 0 else math.inf

    @property
    def told_scale(self) -> float | None:
        """What others may plan by: None until enough was measured, and while no signal is seen."""
        is_enough = self.measurements >= FEWEST_MEASUREMENTS and self.signal > 0
        return self.scale if is_enough else None
