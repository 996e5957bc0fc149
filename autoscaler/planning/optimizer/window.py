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

if TYPE_CHECKING:
    from autoscaler.planning.optimizer.problem import Floats, Integers

BLOCK_CELLS: Final = 1 << 16  # guessed: as many candidates at once as fit the cache

LARGEST: Final = np.finfo(np.float64).max  # whatever loses more is impossible


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Window:
    """`losses[i]` is the least loss of deviating by `lowest + i` GPUs."""

    lowest: int
    losses: Floats

    @property
    def deviations(self) -> Integers:
        return np.arange(self.lowest, self.lowest + len(self.losses))

    def within(self, lowest: float, highest: float, budget: float) -> Window | None:
        """Return what deviates and loses no more than that; None if nothing does."""
        start = int(max(lowest - self.lowest, 0))
        end = int(min(highest - self.lowest + 1, len(self.losses)))
        losses = self.losses[start : max(end, start)]
        kept = np.flatnonzero(losses <= min(budget, LARGEST))
        if not len(kept):
            return None
        start, end = start + int(kept[0]), start + int(kept[-1]) + 1
        return Window(lowest=self.lowest + start, losses=self.losses[start:end])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WindowStep:
    """One member (a job, or a whole group) has chosen, for every deviation in the window."""

    deviations: Integers  # of the member's options
    lowest: int
    picks: Integers  # index of the option, by deviation from `lowest` on

    def pick(self, deviation: int) -> int:
        return int(self.picks[deviation - self.lowest])


EMPTY: Final = Window(lowest=0, losses=np.zeros(1))


def extend(window: Window, deviations: Integers, losses: Floats) -> tuple[Window, WindowStep]:
    """Let one more member choose. Cost: its options times the window.

    `deviations` ascend; where choices lose the same, the smallest is taken.
    """
    smallest, largest, old = int(deviations[0]), int(deviations[-1]), len(window.losses)
    span = largest - smallest
    padded = np.full(old + 2 * span, np.inf)
    padded[span : span + old] = window.losses
    width, stride = old + span, padded.strides[0]
    shifted = np.ndarray((span + 1, width), buffer=padded, strides=(stride, stride))
    rows = largest - deviations  # shifted[row]: the window moved to where the option leads
    block = max(BLOCK_CELLS // width, 1)
    best, picks = _best_of(shifted[rows[:block]], losses[:block])
    picks = picks.astype(np.min_scalar_type(len(rows)))
    for first in range(block, len(rows), block):
        part = slice(first, first + block)
        least, choice = _best_of(shifted[rows[part]], losses[part])
        is_better = least < best
        best[is_better] = least[is_better]
        picks[is_better] = choice[is_better] + first
    lowest = window.lowest + smallest
    return Window(lowest=lowest, losses=best), WindowStep(
        deviations=deviations, lowest=lowest, picks=picks
    )


def _best_of(candidates: Floats, losses: Floats) -> tuple[Floats, Integers]:
    candidates += losses[:, None]
    return candidates.min(axis=0), candidates.argmin(axis=0)
