"""How long does it take so many workers of a pool to add up a gradient of so many bytes?

Measured once per pool, with no job running, as *Effective Elastic Scaling of Deep Learning
Workloads* does: the exchange depends on the bytes, on the number of workers and on whether they
share a node, and not on what is trained. Between the measured points times are interpolated on
logarithmic scales, because both latency (flat) and bandwidth (proportional) are straight there.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class AllReduceTime:
    """One measured point: all of bytes, workers and seconds above 0, workers at least 2."""

    bytes: int
    workers: int
    crosses_nodes: bool
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AllReduceTable:
    """The points measured in a pool, in any order; they need not form a grid."""

    times: tuple[AllReduceTime, ...]

    def workers(self, *, crosses_nodes: bool) -> tuple[int, ...]:
        """Numbers of workers that were measured, ascending."""
        return tuple(sorted({t.workers for t in self.times if t.crosses_nodes == crosses_nodes}))

    def seconds(self, *, size: int, workers: int, crosses_nodes: bool) -> float | None:
        """Time for `size` bytes; None where nothing was measured within (or across) nodes.

        More workers than were measured are taken for the most that were; of more bytes the time
        grows in proportion, and fewer than were measured cost as much as the fewest.
        """
        if workers == 1:
            return 0.0
        curves = self._curves(crosses_nodes=crosses_nodes)
        if not curves:
            return None
        counts = sorted(curves)
        logs = [_log_seconds(curves[count], size) for count in counts]
        return float(np.exp(np.interp(np.log(workers), np.log(counts), logs)))

    def _curves(self, *, crosses_nodes: bool) -> Mapping[int, list[tuple[int, float]]]:
        """(bytes, seconds) ascending, by number of workers."""
        curves: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
        for time in self.times:
            if time.crosses_nodes == crosses_nodes:
                curves[time.workers].append((time.bytes, time.seconds))
        return {workers: sorted(points) for workers, points in curves.items()}


def _log_seconds(points: list[tuple[int, float]], size: int) -> float:
    sizes, seconds = np.log(np.array(points, dtype=float)).T
    beyond = max(np.log(max(size, 1)) - sizes[-1], 0.0)
    return float(np.interp(np.log(max(size, 1)), sizes, seconds) + beyond)
