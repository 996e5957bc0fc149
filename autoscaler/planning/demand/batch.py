"""Which global batches may a job train with on k workers, and which of them is best?

Feasible means: inside the declared range, a multiple of `multiple_of`, at least one sample per
worker, and a local batch that fits into memory, unless gradients may be accumulated over several
micro-batches. b_opt(k) is the feasible batch of the highest value, throughput or goodput.
All sizes of a job are answered at once: one row per number of workers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from autoscaler.planning.snapshot.job_terms import BatchRange

    Counts = NDArray[np.int64]
    Column = NDArray[np.float64]

EXACT_UP_TO: Final = 64  # so many batch sizes are all tried; of more, a geometric grid
MIN_BATCH_GAIN: Final = 0.10  # guessed: estimates of the noise scale swing more than step times
NO_BATCH: Final = 0  # in place of a batch: none is feasible on so many workers

_FULL_SHARES: Final = (1, 2, 4, 8)  # micro-batches; full ones, which a grid would miss


def fewest_workers(rules: BatchRange) -> int:
    """Return how many it takes to hold the smallest batch of the range in memory."""
    if rules.max_per_gpu is None or rules.accumulation:
        return 1
    lowest = -(-rules.minimum // rules.multiple_of) * rules.multiple_of
    return -(-lowest // rules.max_per_gpu)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeasibleBatches:
    """First and last feasible batch by number of workers, and how many there are (0: none)."""

    workers: Counts
    lowest: Counts
    highest: Counts
    count: Counts
    unit: int

    @classmethod
    def of(cls, rules: BatchRange, workers: Counts, *, at_most: int) -> FeasibleBatches:
        """`at_most` bounds the range from above, but never below its own minimum."""
        unit = rules.multiple_of
        lowest = -(-np.maximum(rules.minimum, workers) // unit) * unit
        highest = np.full_like(workers, min(rules.maximum, max(at_most, int(lowest.min()))))
        if rules.max_per_gpu is not None and not rules.accumulation:
            highest = np.minimum(highest, rules.max_per_gpu * workers)
        count = np.maximum((highest - lowest) // unit + 1, 0)
        highest = lowest + unit * np.maximum(count - 1, 0)
        return cls(workers=workers, lowest=lowest, highest=highest, count=count, unit=unit)

    def nearest(self, wanted: int) -> Counts:
        """The feasible batch nearest to the wanted one."""
        down = np.clip(wanted // self.unit * self.unit, self.lowest, self.highest)
        up = np.minimum(down + self.unit, self.highest)
        nearest = np.where(np.abs(down - wanted) <= np.abs(up - wanted), down, up)
        return np.where(self.count > 0, nearest, NO_BATCH)

    def candidates(self, max_per_gpu: int | None) -> Counts:
        """Batches to try, a row per number of workers; rows with fewer repeat their last one."""
        columns = int(min(self.count.max(initial=1), EXACT_UP_TO))
        each = np.arange(columns)
        count = np.maximum(self.count, 1)[:, None]
        grid = np.rint(count ** (each / max(columns - 1, 1))).astype(np.int64) - 1
        steps = np.where(count <= EXACT_UP_TO, np.minimum(each, count - 1), grid)
        batches: Counts = self.lowest[:, None] + self.unit * steps
        if max_per_gpu is None or columns < EXACT_UP_TO:
            return batches
        full = max_per_gpu * self.workers[:, None] * np.array(_FULL_SHARES)
        return np.hstack((batches, self._within(full // self.unit * self.unit)))

    def with_current(self, candidates: Counts, current: int | None) -> Counts:
        """One more column: the current batch, wherever it is feasible."""
        if current is None or current % self.unit:
            return candidates
        again = np.full((len(candidates), 1), current)
        fits = (self.lowest <= current) & (current <= self.highest)
        return np.hstack((candidates, np.where(fits[:, None], again, candidates[:, :1])))

    def _within(self, batches: Counts) -> Counts:
        return np.clip(batches, self.lowest[:, None], self.highest[:, None])


def best_batches(
    feasible: FeasibleBatches,
    value_of: Callable[[Counts], Column],
    *,
    max_per_gpu: int | None = None,
    current: int | None = None,
    least_gain: float = MIN_BATCH_GAIN,
) -> Counts:
    """b_opt by number of workers. `value_of` answers for a whole table of batches.

    The current batch is left only for one that gains `least_gain`: else noise in the speeds, or in
    the noise scale, would decide. The search tries at most 64 batches of the range, and full
    micro-batches.
    """
    candidates = feasible.with_current(feasible.candidates(max_per_gpu), current)
    values = value_of(candidates)
    best = values.argmax(axis=1)
    rows = np.arange(len(candidates))
    chosen = candidates[rows, best]
    if current is not None:
        stays = candidates[:, -1] == current
        stays &= values[:, -1] >= (1 - least_gain) * values[rows, best]
        chosen = np.where(stays, current, chosen)
    return np.where(feasible.count > 0, chosen, NO_BATCH)
