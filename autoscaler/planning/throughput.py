"""How long does one training step take on k workers with a given local batch?

The step-time model of Pollux (OSDI 2021), which contains the one of *Effective Elastic Scaling of
Deep Learning Workloads* as its case g = 1:

    step time      = (computation^g + exchange^g)^(1/g)      g = 1: no overlap, large g: full
    computation    = a_c per micro-batch + b_c per sample of the largest local batch
    exchange       = 0                                       one worker
                     a_r + b_r * max(k - 2, 0)               within one node
                     a_n + b_n * max(k - 2, 0)               across nodes

`fitting` finds the seven numbers from measurements.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from autoscaler.planning.cluster_state import Measurement

MIN_STEPS: Final = 3  # guessed: fewer steps than this are still warm-up
PLAUSIBLE_SECONDS: Final = (1e-6, 1e5)

_SIGNIFICANT_DIGITS: Final = 3  # a change below 0.1 % is no reason to fit again


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One usable measurement, rounded so that equal ones compare equal."""

    workers: int
    crosses_nodes: bool
    global_batch_size: int
    step_seconds: float

    @property
    def local_batch(self) -> int:
        return math.ceil(self.global_batch_size / self.workers)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThroughputModel:
    """The seven numbers of the formula above, in seconds (the overlap has no unit)."""

    compute_fixed: float
    compute_per_sample: float
    in_node_fixed: float
    in_node_per_worker: float
    cross_node_fixed: float
    cross_node_per_worker: float
    overlap: float

    def step_seconds(
        self,
        *,
        workers: ArrayLike,
        crosses_nodes: ArrayLike,
        local_batch: ArrayLike,
        micro_batches: ArrayLike = 1,
    ) -> NDArray[np.float64]:
        """Step time for any shapes that broadcast; `local_batch` is the largest share."""
        exchange = self.exchange_seconds(workers=workers, crosses_nodes=crosses_nodes)
        computation = np.asarray(micro_batches) * self.compute_fixed + (
            self.compute_per_sample * np.asarray(local_batch, dtype=float)
        )
        larger = np.maximum(computation, exchange)  # factored out, so that powers cannot overflow
        smaller = np.minimum(computation, exchange)
        return np.asarray(larger * (1 + (smaller / larger) ** self.overlap) ** (1 / self.overlap))

    def exchange_seconds(
        self, *, workers: ArrayLike, crosses_nodes: ArrayLike
    ) -> NDArray[np.float64]:
        """The gradient exchange alone; 0 for one worker."""
        k = np.asarray(workers, dtype=float)
        fixed = np.where(crosses_nodes, self.cross_node_fixed, self.in_node_fixed)
        per_worker = np.where(crosses_nodes, self.cross_node_per_worker, self.in_node_per_worker)
        return np.where(k > 1, fixed + per_worker * np.maximum(k - 2, 0), 0.0)


def usable(measurements: Iterable[Measurement]) -> tuple[Observation, ...]:
    """The measurements that can be believed, in a stable order."""
    return tuple(
        sorted(
            (
                _observation(measurement)
                for measurement in measurements
                if _is_plausible(measurement)
            ),
            key=lambda o: (o.workers, o.crosses_nodes, o.global_batch_size, o.step_seconds),
        )
    )


def _observation(measurement: Measurement) -> Observation:
    return Observation(
        workers=measurement.workers,
        crosses_nodes=measurement.nodes > 1,
        global_batch_size=measurement.global_batch_size,
        step_seconds=float(f"{measurement.step_seconds:.{_SIGNIFICANT_DIGITS}g}"),
    )


def _is_plausible(measurement: Measurement) -> bool:
    shortest, longest = PLAUSIBLE_SECONDS
    return (
        measurement.steps >= MIN_STEPS
        and measurement.workers >= 1
        and 1 <= measurement.nodes <= measurement.workers
        and measurement.global_batch_size >= measurement.workers
        and math.isfinite(measurement.step_seconds)
        and shortest <= measurement.step_seconds <= longest
    )
