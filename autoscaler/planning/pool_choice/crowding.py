"""What can everybody in a pool expect of its GPUs, and what does one job more take from the others?

A rough picture, for comparing pools before they are planned. All share alike: there is a level L of
GPUs at which the jobs, each with L or the nearest it can use, just fit the pool.

    taken(L) = sum over jobs of clip(L, least, most)        L* = largest L with taken(L) <= GPUs

One job more lowers the level, and what the others lose by that is the price of its GPUs there.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    Column = np.typing.NDArray[np.float64]
    Counts = np.typing.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class UsableGpus:
    """Which numbers of GPUs a job can use, ascending, and how fast it is with each."""

    gpus: Sequence[int]
    speeds: Sequence[float]

    def at(self, given: int) -> int:
        """Return which of them it takes of so many: the most that fit, or the least there is."""
        return max(bisect_right(self.gpus, given) - 1, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuShare:
    """What a job can expect in a pool: which of its numbers of GPUs, and what others lose."""

    at: int
    loss: float


class PoolCrowd:
    """The jobs of a pool, and those that were counted in since. Each costs microseconds."""

    def __init__(self, gpus: int) -> None:
        self._gpus = gpus
        self._levels: Counts = np.arange(gpus + 1)
        self._taken: Counts = np.zeros(gpus + 1, dtype=np.int64)
        self._speeds: Column = np.zeros(gpus + 1)

    def has_room_for(self, use: UsableGpus) -> bool:
        """Tell whether it fits if everybody takes the least."""
        return bool(self._taken[0] + use.gpus[0] <= self._gpus)

    def add(self, use: UsableGpus) -> None:
        """Count a job in."""
        self._taken += self._clipped(use)
        places = np.searchsorted(np.asarray(use.gpus), self._levels, side="right") - 1
        self._speeds += np.asarray(use.speeds)[np.maximum(places, 0)]

    def share_of(self, use: UsableGpus) -> GpuShare | None:
        """Return what one job more would get; None: the pool is full."""
        if not self.has_room_for(use):
            return None
        before = self._level(self._taken)
        after = self._level(self._taken + self._clipped(use))
        return GpuShare(
            at=use.at(after), loss=max(float(self._speeds[before] - self._speeds[after]), 0.0)
        )

    def _clipped(self, use: UsableGpus) -> Counts:
        return np.clip(self._levels, use.gpus[0], use.gpus[-1])

    def _level(self, taken: Counts) -> int:
        return max(int(np.searchsorted(taken, self._gpus, side="right")) - 1, 0)
