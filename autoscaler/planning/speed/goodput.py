"""How much of a sample's worth is left when the batch grows?

Statistical efficiency, as in Pollux (OSDI 2021) and *An Empirical Model of Large-Batch Training*
(2018): with gradient noise phi (in samples, at the base batch M0) one sample of a batch of M moves
training as far as

    EFF(M) = (phi + M0) / (phi + M)

samples of the base batch do. Goodput, T * EFF, counts samples per second at their worth. Noise far
above the batch makes large batches free; noise far below makes the further samples worthless.
Smaller batches than the base count no more than it: nobody has tuned a learning rate for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def efficiency(
    batches: ArrayLike, *, base_batch: int, noise_scale: float | None
) -> NDArray[np.float64]:
    """EFF by batch; 1 everywhere while the noise is unknown."""
    sizes = np.asarray(batches, dtype=float)
    if noise_scale is None:
        return np.ones_like(sizes)
    return np.minimum((noise_scale + base_batch) / (noise_scale + sizes), 1.0)
