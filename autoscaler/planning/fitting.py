"""Which throughput model fits a job's measurements best?

Seven numbers cannot be read from one or two measurements, so they start from a mild prior and
move only as far as the measurements ask: a maximum a posteriori fit of log step times over the
logarithms of the numbers, with bounds. Single absurd measurements pull only linearly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.optimize import least_squares

from autoscaler.planning.throughput import ThroughputModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from autoscaler.planning.throughput import Observation

# All guessed. They matter only until two sizes are measured.
_IN_NODE_BYTES_PER_SECOND: Final = 2e9
_CROSS_NODE_BYTES_PER_SECOND: Final = 1e9
_EXCHANGE_LATENCY_SECONDS: Final = 1e-3
_EXCHANGE_SHARE_WITHOUT_MODEL_SIZE: Final = 0.05  # of the step
_FIXED_SHARE_OF_COMPUTATION: Final = 0.2
_MEASUREMENT_ERROR: Final = 0.05  # relative; the weight of one measurement against the prior
_PRIOR_WIDTH: Final = np.array([0.7, 0.7, 3.0, 3.0, 3.0, 3.0, 0.3])  # in natural logarithms
_REACH: Final = 12.0  # no parameter moves further than e^12 from its prior


@lru_cache(maxsize=4096)
def fit(
    observations: tuple[Observation, ...], *, model_bytes: int, micro_batch: int | None = None
) -> ThroughputModel:
    """The likeliest model for at least one observation; about a millisecond, then cached."""
    prior = _prior(observations, model_bytes)
    data = _Data.of(observations, micro_batch)

    def residuals(theta: NDArray[np.float64]) -> NDArray[np.float64]:
        misfit = (data.log_seconds(theta) - data.measured) / _MEASUREMENT_ERROR
        return np.concatenate((misfit, (theta - prior) / _PRIOR_WIDTH))

    def slopes(theta: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.vstack((data.slopes(theta) / _MEASUREMENT_ERROR, np.diag(1 / _PRIOR_WIDTH)))

    lower, upper = prior - _REACH, prior + _REACH
    lower[-1], upper[-1] = 0.0, math.log(10.0)  # overlap between 1 and 10
    found = least_squares(
        residuals,
        prior,
        jac=slopes,
        bounds=(lower, upper),
        method="dogbox",
        loss="soft_l1",
        f_scale=3.0,
        xtol=1e-3,
        ftol=1e-3,
    )
    return _model(found.x)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Data:
    """The observations as columns, and what a model says about them."""

    workers: NDArray[np.float64]
    crosses: NDArray[np.bool_]
    local: NDArray[np.float64]
    micro: NDArray[np.float64]
    measured: NDArray[np.float64]  # logarithms of seconds

    @classmethod
    def of(cls, observations: tuple[Observation, ...], micro_batch: int | None) -> _Data:
        local = np.array([o.local_batch for o in observations], dtype=float)
        return cls(
            workers=np.array([o.workers for o in observations], dtype=float),
            crosses=np.array([o.crosses_nodes for o in observations]),
            local=local,
            micro=np.ceil(local / micro_batch) if micro_batch else np.ones_like(local),
            measured=np.log([o.step_seconds for o in observations]),
        )

    def log_seconds(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        seconds = _model(theta).step_seconds(
            workers=self.workers,
            crosses_nodes=self.crosses,
            local_batch=self.local,
            micro_batches=self.micro,
        )
        return np.asarray(np.log(seconds))

    def slopes(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Derivatives of log step time by the logarithm of each number, one column each.

        With p = computation^g / (computation^g + exchange^g), a share of computation counts p
        times, a share of the exchange 1 - p times, and the overlap
        p log(computation) + (1 - p) log(exchange) - log(step time).
        """
        a_c, b_c, a_r, b_r, a_n, b_n, overlap = np.exp(theta)
        computation = self.micro * a_c + b_c * self.local
        further = np.maximum(self.workers - 2, 0)
        exchange = np.where(self.crosses, a_n + b_n * further, a_r + b_r * further)
        alone = self.workers == 1
        ratio = np.where(alone, -np.inf, np.log(exchange / computation))
        p = 1 / (1 + np.exp(np.clip(overlap * ratio, -500, 500)))
        p = np.where(alone, 1.0, p)
        inside, across = (1 - p) * ~self.crosses / exchange, (1 - p) * self.crosses / exchange
        step = self.log_seconds(theta) - np.log(computation)
        return np.column_stack(
            (
                p * self.micro * a_c / computation,
                p * self.local * b_c / computation,
                inside * a_r,
                inside * b_r * further,
                across * a_n,
                across * b_n * further,
                np.where(alone, 0.0, (1 - p) * np.where(alone, 0.0, ratio) - step),
            )
        )


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
