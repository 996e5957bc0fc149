"""How far does the measured gradient noise support a range of batches?

With the noise scale phi (in samples) and the base batch M0, one sample of a batch of M moves
training as far as

    EFF(M) = (phi + M0) / (phi + M)

samples of the base batch do (statistical efficiency in Pollux, OSDI 2021). *An Empirical Model of
Large-Batch Training* (2018) gives the reason: to come equally far takes E = Emin * (1 + M / phi)
samples, and EFF(M) = E(M0) / E(M). Solved for the batch, a sample is worth the share s up to

    M(s) = (phi + M0) / s - phi

Only numbers here, no arrays: the service asks this of one job at a time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

LEAST_WORTH: Final = 0.5
"""A range reaches too far where a sample is worth less than this share of one of the base batch.

To come equally far then takes twice the samples. M(1/2) = phi + 2 * M0 lies a little beyond phi,
the batch that the second paper calls critical: from there on a larger batch costs more samples than
it saves steps. And twice the base batch is never too much, however wrong the noise was measured.
"""


def known_noise(reported: float | None) -> float | None:
    """The noise scale if it is a number above 0; anything else is not known."""
    is_known = reported is not None and math.isfinite(reported) and reported > 0
    return reported if is_known else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeWorth:
    """A range of batches above its base, and the noise scale that it is seen with, in samples."""

    base: int
    largest: int
    noise_scale: float

    @classmethod
    def of(cls, *, base: int, largest: int, noise_scale: float | None) -> RangeWorth | None:
        """None where there is nothing to say: no batch above the base, or no noise known."""
        noise_scale = known_noise(noise_scale)
        if noise_scale is None or largest <= base:
            return None
        return cls(base=base, largest=largest, noise_scale=noise_scale)

    @property
    def of_largest(self) -> float:
        """What a sample of the largest batch is worth, beside one of the base batch."""
        return (self.noise_scale + self.base) / (self.noise_scale + self.largest)

    @property
    def supported(self) -> int:
        """The largest batch of the range in which a sample is worth at least `LEAST_WORTH`."""
        most = (self.noise_scale + self.base) / LEAST_WORTH - self.noise_scale
        return min(math.floor(most), self.largest)

    @property
    def reaches_too_far(self) -> bool:
        return self.of_largest < LEAST_WORTH
