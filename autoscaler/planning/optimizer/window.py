"""What is the least loss for every number of GPUs near the base, and how is it attained?

The recurrence of *Effective Elastic Scaling of Deep Learning Workloads*,

    P(j, k) = max over the options (g, v) of job j of  v + P(j-1, k-g)        -inf: impossible

with losses for values (least instead of most, inf: impossible) and deviations from the base for
GPUs. As no loss is negative, whatever has lost more than the budget is out, and the few deviations
that are left form a short window around 0, however many GPUs the pool has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.lib.stride_tricks import as_strided

if TYPE_CHECKING:
    from autoscaler.planning.optimizer.problem import Floats, Integers

BLOCK_CELLS: Final = 1 << 16  # guessed: as many candidates at once as fit the cache


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Window:
    """`losses[i]` is the least loss of deviating by `lowest + i` GPUs."""

    lowest: int
    losses: Floats

    @property
    def deviations(self) -> Integers:
        return np.arange(self.lowest, self.lowest + len(self.losses))

    def within(self, lowest: float, highest: float, budget: float) -> Window | None:
        """What deviates and loses no more than that; None if nothing does."""
        start = int(max(lowest - self.lowest, 0))
        end = int(min(highest - self.lowest + 1, len(self.losses)))
        losses = self.losses[start : max(end, start)]
        kept = np.flatnonzero((losses <= budget) & np.isfinite(losses))
        if not len(kept):
            return None
        start, end = start + int(kept[0]), start + int(kept[-1]) + 1
        return Window(lowest=self.lowest + start, losses=self.losses[start:end])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Step:
    """One member (a job, or a whole group) has chosen, for every deviation in the window."""

    deviations: Integers  # of the member's options
    lowest: int
    picks: Integers  # index of the option, by deviation from `lowest` on

    def pick(self, deviation: int) -> int:
        return int(self.picks[deviation - self.lowest])


EMPTY: Final = Window(lowest=0, losses=np.zeros(1))


def extend(window: Window, deviations: Integers, losses: Floats) -> tuple[Window, Step]:
    """Let one more member choose. Cost: its options times the window.

    Where choices lose the same, the first one is taken.
    """
    smallest, largest = int(deviations.min()), int(deviations.max())
    span, old = largest - smallest, len(window.losses)
    width = old + span
    padded = np.full(old + 2 * span, np.inf)
    padded[span : span + old] = window.losses
    shifted = as_strided(padded, shape=(span + 1, width), strides=padded.strides * 2)
    rows = largest - deviations  # shifted[row] is the window moved to where the option leads
    best = np.full(width, np.inf)
    picks = np.zeros(width, dtype=np.min_scalar_type(len(deviations)))
    block = max(BLOCK_CELLS // width, 1)
    for first in range(0, len(rows), block):
        part = slice(first, first + block)
        candidates = shifted[rows[part]] + losses[part, None]
        choice = candidates.argmin(axis=0)
        least = candidates[choice, np.arange(width)] if block > 1 else candidates[0]
        is_better = least < best
        best[is_better] = least[is_better]
        picks[is_better] = choice[is_better] + first
    lowest = window.lowest + smallest
    return Window(lowest=lowest, losses=best), Step(
        deviations=deviations, lowest=lowest, picks=picks
    )
