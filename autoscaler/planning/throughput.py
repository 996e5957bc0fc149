"""How long does one training step take on k workers with a given local batch?

The step-time model of Pollux (OSDI 2021), which contains the one of *Effective Elastic Scaling of
Deep Learning Workloads* as its case g = 1:

    step time      = (computation^g + exchange^g)^(1/g)      g = 1: no overlap, large g: full
    computation    = a_c per micro-batch + b_c per sample of the largest local batch
    exchange       = 0                                       one worker
                     a_r + b_r * max(k - 2, 0)               within one node
                     a_n + b_n * max(k - 2, 0)               across nodes

Seven numbers cannot be read from one or two measurements, so they start from a mild prior and
move only as far as the measurements ask: a maximum a posteriori fit on logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.optimize import least_squares

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from autoscaler.planning.cluster_state import Measurement

MIN_STEPS: Final = 3  # guessed: fewer steps than this are still warm-up
PLAUSIBLE_SECONDS: Final = (1e-6, 1e5)

# All guessed. They matter only until two sizes are measured.
_IN_NODE_BYTES_PER_SECOND: Final = 2e9
_CROSS_NODE_BYTES_PER_SECOND: Final = 1e9
_EXCHANGE_LATENCY_SECONDS: Final = 1e-3
_EXCHANGE_SHARE_WITHOUT_MODEL_SIZE: Final = 0.05  # of the step
_FIXED_SHARE_OF_COMPUTATION: Final = 0.2
_MEASUREMENT_ERROR: Final = 0.05  # relative; the weight of one measurement against the prior
_PRIOR_WIDTH: Final = np.array([0.7, 0.7, 3.0, 3.0, 3.0, 3.0, 0.3])  # in natural logarithms
_REACH: Final = 12.0  # no parameter moves further than e^12 from its prior
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
        k = np.asarray(workers, dtype=float)
        fixed = np.where(crosses_nodes, self.cross_node_fixed, self.in_node_fixed)
        per_worker = np.where(crosses_nodes, self.cross_node_per_worker, self.in_node_per_worker)
        exchange = np.where(k > 1, fixed + per_worker * np.maximum(k - 2, 0), 0.0)
        computation = np.asarray(micro_batches) * self.compute_fixed + (
            self.compute_per_sample * np.asarray(local_batch, dtype=float)
        )
        larger = np.maximum(computation, exchange)  # factored out, so that powers cannot overflow
        smaller = np.minimum(computation, exchange)
        return np.asarray(larger * (1 + (smaller / larger) ** self.overlap) ** (1 / self.overlap))


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


@lru_cache(maxsize=4096)
def fit(
    observations: tuple[Observation, ...], *, model_bytes: int, micro_batch: int | None = None
) -> ThroughputModel:
    """The likeliest model for at least one observation; a few milliseconds, then cached."""
    prior = _prior(observations, model_bytes)
    k = np.array([o.workers for o in observations])
    crosses = np.array([o.crosses_nodes for o in observations])
    local = np.array([o.local_batch for o in observations], dtype=float)
    micro = np.ceil(local / micro_batch) if micro_batch else np.ones_like(local)
    seconds = np.log([o.step_seconds for o in observations])

    def residuals(theta: NDArray[np.float64]) -> NDArray[np.float64]:
        predicted = _model(theta).step_seconds(
            workers=k, crosses_nodes=crosses, local_batch=local, micro_batches=micro
        )
        return np.concatenate(
            ((np.log(predicted) - seconds) / _MEASUREMENT_ERROR, (theta - prior) / _PRIOR_WIDTH)
        )

    lower, upper = prior - _REACH, prior + _REACH
    lower[-1], upper[-1] = 0.0, math.log(10.0)  # overlap between 1 and 10
    found = least_squares(
        residuals, prior, bounds=(lower, upper), loss="soft_l1", f_scale=3.0, xtol=1e-6, ftol=1e-6
    )
    return _model(found.x)


def _model(theta: NDArray[np.float64]) -> ThroughputModel:
    return ThroughputModel(
        **dict(zip(ThroughputModel.__slots__, np.exp(theta).tolist(), strict=True))
    )


def _prior(observations: tuple[Observation, ...], model_bytes: int) -> NDArray[np.float64]:
    """Logarithms of the seven numbers, scaled by the smallest configuration measured."""
    smallest = min(observations, key=lambda o: (o.workers, -o.global_batch_size))
    computation = smallest.step_seconds * (1.0 if smallest.workers == 1 else 0.8)
    if model_bytes > 0:  # a ring all-reduce sends the gradient about twice
        in_node = _EXCHANGE_LATENCY_SECONDS + 2 * model_bytes / _IN_NODE_BYTES_PER_SECOND
        cross_node = _EXCHANGE_LATENCY_SECONDS + 2 * model_bytes / _CROSS_NODE_BYTES_PER_SECOND
    else:
        in_node = _EXCHANGE_SHARE_WITHOUT_MODEL_SIZE * smallest.step_seconds
        cross_node = 2 * in_node
    return np.log(
        [
            _FIXED_SHARE_OF_COMPUTATION * computation,
            (1 - _FIXED_SHARE_OF_COMPUTATION) * computation / smallest.local_batch,
            in_node,
            0.1 * in_node,
            cross_node,
            0.1 * cross_node,
            1.5,
        ]
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
