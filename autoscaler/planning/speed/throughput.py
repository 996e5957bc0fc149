"""How long does one training step take on k workers with a given local batch?

The step-time model of Pollux (OSDI 2021), which contains the one of *Effective Elastic Scaling of
Deep Learning Workloads* as its case g = 1:

    step time      = (computation^g + exchange^g)^(1/g)      g = 1: no overlap, large g: full
    computation    = a_c per micro-batch + b_c per sample of the largest local batch
    exchange       = 0                                       one worker
                     a_r + b_r * max(k - 2, 0)               within one node
                     a_n + b_n * max(k - 2, 0)               across nodes

`fitting` finds the seven numbers from measurements, `scaling` says how sure they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Column = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Configurations:
    """Where step times are asked for: columns of one shape (or of shapes that broadcast)."""

    workers: Column
    crosses_nodes: NDArray[np.bool_]
    local_batch: Column  # the largest share of a worker, in samples
    micro_batches: Column  # into how many pieces a worker splits its share

    @classmethod
    def of(
        cls,
        *,
        workers: ArrayLike,
        crosses_nodes: ArrayLike,
        global_batch: ArrayLike,
        micro_batch: int | None = None,
    ) -> Configurations:
        """Make them; shares beyond `micro_batch` samples are split and accumulated."""
        k = np.asarray(workers, dtype=float)
        local = np.ceil(np.asarray(global_batch, dtype=float) / k)
        return cls(
            workers=k,
            crosses_nodes=np.asarray(crosses_nodes, dtype=bool),
            local_batch=local,
            micro_batches=np.ceil(local / micro_batch) if micro_batch else np.ones_like(local),
        )


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

    @classmethod
    def from_logarithms(cls, theta: Column) -> ThroughputModel:
        return cls(**dict(zip(cls.__slots__, np.exp(theta).tolist(), strict=True)))

    def logarithms(self) -> Column:
        """The seven numbers as fits and priors see them."""
        return np.log(np.maximum(self._numbers(), np.finfo(float).tiny))

    def step_seconds(self, at: Configurations) -> Column:
        return np.exp(_log_seconds(self._numbers(), at))

    def _numbers(self) -> Column:
        return np.array([getattr(self, name) for name in self.__slots__])


def log_step_seconds(theta: Column, at: Configurations) -> Column:
    """Logarithms of the step times, from those of the seven numbers.

    `theta` of shape (7,) gives one row of step times; of shape (n, 7) n rows, a model each.
    """
    return _log_seconds(np.exp(theta), at)


def slopes(theta: Column, at: Configurations) -> Column:
    """Derivatives of log step time by the logarithm of each number: shape (points, 7).

    With p = computation^g / (computation^g + exchange^g), a share of computation counts p times,
    a share of the exchange 1 - p times, and the overlap
    p log(computation) + (1 - p) log(exchange) - log(step time).
    """
    a_c, b_c, a_r, b_r, a_n, b_n, overlap = numbers = np.exp(theta)
    computation, exchange = _parts(numbers, at)
    alone = exchange <= 0
    ratio = np.log(np.where(alone, 1.0, exchange / computation))
    power = np.exp(np.clip(overlap * ratio, -500, 500))
    p = np.where(alone, 1.0, 1 / (1 + power))
    per_exchange = np.where(alone, 0.0, (1 - p) / np.where(alone, 1.0, exchange))
    inside, across = per_exchange * ~at.crosses_nodes, per_exchange * at.crosses_nodes
    further = np.maximum(at.workers - 2, 0)
    stretch = np.log1p(power) / overlap  # log(step time / computation)
    columns = (
        p * at.micro_batches * a_c / computation,
        p * at.local_batch * b_c / computation,
        inside * a_r,
        inside * b_r * further,
        across * a_n,
        across * b_n * further,
        np.where(alone, 0.0, (1 - p) * ratio - stretch),
    )
    return np.stack(columns, axis=-1)


def _log_seconds(numbers: Column, at: Configurations) -> Column:
    computation, exchange = _parts(numbers, at)
    overlap = _each(numbers)[6]
    larger = np.maximum(computation, exchange)  # factored out, so that powers cannot overflow
    smaller = np.minimum(computation, exchange)
    return np.asarray(np.log(larger) + np.log1p((smaller / larger) ** overlap) / overlap)


def _parts(numbers: Column, at: Configurations) -> tuple[Column, Column]:
    """Seconds of computation, and of the exchange: 0 for one worker."""
    a_c, b_c, a_r, b_r, a_n, b_n, _ = _each(numbers)
    computation = at.micro_batches * a_c + at.local_batch * b_c
    further = np.maximum(at.workers - 2, 0)
    exchange = np.where(at.crosses_nodes, a_n + b_n * further, a_r + b_r * further)
    return computation, np.where(at.workers > 1, exchange, 0.0)


def _each(numbers: Column) -> Column:
    """The seven numbers: scalars of one model, columns of several."""
    return numbers if numbers.ndim == 1 else numbers.T[..., None]
