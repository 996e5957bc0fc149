"""Which global batch should a job train with on k workers?

b_opt(k) is the feasible batch of the highest throughput T(b, k) = b / step time. Feasible means:
inside the declared range, a multiple of `multiple_of`, at least one sample per worker, and a local
batch that fits into memory, unless gradients may be accumulated over several micro-batches.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from autoscaler.planning.throughput import Configurations

if TYPE_CHECKING:
    from autoscaler.planning.cluster_state import BatchRange
    from autoscaler.planning.throughput import ThroughputModel

EXACT_UP_TO: Final = 64  # so many batch sizes are all tried; of more, a geometric grid
LARGEST_STEP: Final = 2  # the batch at most doubles per rescale, so that training can follow
_WORTH_CHANGING: Final = 0.02  # less extra throughput is no reason to leave the current batch


def feasible_batches(rules: BatchRange, *, workers: int, at_most: int) -> tuple[int, ...]:
    """Candidates for b on so many workers, ascending; empty when the range fits no such size."""
    unit = rules.multiple_of
    lowest = math.ceil(max(rules.minimum, workers) / unit) * unit
    highest = min(rules.maximum, at_most)
    if rules.max_per_gpu is not None and not rules.accumulation:
        highest = min(highest, rules.max_per_gpu * workers)
    count = (highest - lowest) // unit + 1
    if count <= 0:
        return ()
    if count <= EXACT_UP_TO:
        return tuple(range(lowest, highest + 1, unit))
    grid = np.geomspace(1, count, EXACT_UP_TO).round().astype(int) - 1
    return tuple(lowest + unit * int(step) for step in np.unique(grid))


def nearest_batch(rules: BatchRange, *, workers: int, wanted: int) -> int | None:
    """The feasible batch nearest to the wanted one; None when no batch fits so many workers."""
    candidates = feasible_batches(rules, workers=workers, at_most=rules.maximum)
    if not candidates:
        return None
    unit = rules.multiple_of
    down = min(max(wanted // unit * unit, candidates[0]), candidates[-1])
    up = min(down + unit, candidates[-1])
    return min((down, up), key=lambda batch: abs(batch - wanted))


def best_batch(
    model: ThroughputModel,
    rules: BatchRange,
    *,
    workers: int,
    crosses_nodes: bool,
    at_most: int,
    current: int | None = None,
) -> tuple[int, float] | None:
    """(b_opt, samples per second), or None when no batch is feasible on so many workers.

    A current batch within 2 % of the best throughput is not left for it: that is below what
    measurements can tell apart.
    """
    candidates = feasible_batches(rules, workers=workers, at_most=at_most)
    if not candidates:
        return None
    if current is not None and candidates[0] <= current <= candidates[-1]:
        candidates = tuple(sorted({*candidates, current}))
    batches = np.array(candidates)
    rates = samples_per_second(
        model, rules, batches=batches, workers=workers, crosses_nodes=crosses_nodes
    )
    best = int(np.argmax(rates))
    if current in candidates:
        stay = candidates.index(current)
        if rates[stay] >= (1 - _WORTH_CHANGING) * rates[best]:
            best = stay
    return candidates[best], float(rates[best])


def samples_per_second(
    model: ThroughputModel,
    rules: BatchRange,
    *,
    batches: np.typing.NDArray[np.int_],
    workers: int,
    crosses_nodes: bool,
) -> np.typing.NDArray[np.float64]:
    """T(b, k) for several b; local batches beyond the memory limit run as micro-batches."""
    at = Configurations.of(
        workers=[workers],
        crosses_nodes=[crosses_nodes],
        global_batch=batches,
        micro_batch=rules.max_per_gpu,
    )
    return np.asarray(batches / model.step_seconds(at))
