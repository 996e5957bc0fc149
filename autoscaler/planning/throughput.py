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

from dataclasses import astuple, dataclass
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
        """From global batches; shares beyond `micro_batch` samples are split and accumulated."""
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
        return np.log(np.maximum(astuple(self), np.finfo(float).tiny))

    def step_seconds(self, at: Configurations) -> Column:
        computation, exchange = self._parts(at)
        larger = np.maximum(computation, exchange)  # factored out, so that powers cannot overflow
        smaller = np.minimum(computation, exchange)
        return np.asarray(larger * (1 + (smaller / larger) ** self.overlap) ** (1 / self.overlap))

    def slopes(self, at: Configurations) -> Column:
        """Derivatives of log step time by the logarithm of each number, along a new last axis.

        With p = computation^g / (computation^g + exchange^g), a share of computation counts p
        times, a share of the exchange 1 - p times, and the overlap
        p log(computation) + (1 - p) log(exchange) - log(step time).
        """
        computation, exchange = self._parts(at)
        alone = exchange <= 0
        ratio = np.log(np.where(alone, 1.0, exchange / computation))
        power = np.exp(np.clip(self.overlap * ratio, -500, 500))
        p = np.where(alone, 1.0, 1 / (1 + power))
        per_exchange = np.where(alone, 0.0, (1 - p) / np.where(alone, 1.0, exchange))
        inside, across = per_exchange * ~at.crosses_nodes, per_exchange * at.crosses_nodes
        further = np.maximum(at.workers - 2, 0)
        stretch = np.log1p(power) / self.overlap  # log(step time / computation)
        columns = (
            p * at.micro_batches * self.compute_fixed / computation,
            p * at.local_batch * self.compute_per_sample / computation,
            inside * self.in_node_fixed,
            inside * self.in_node_per_worker * further,
            across * self.cross_node_fixed,
            across * self.cross_node_per_worker * further,
            np.where(alone, 0.0, (1 - p) * ratio - stretch),
        )
        return np.stack(np.broadcast_arrays(*columns), axis=-1)

    def _parts(self, at: Configurations) -> tuple[Column, Column]:
        """Seconds of computation, and of the exchange: 0 for one worker."""
        computation = (
            at.micro_batches * self.compute_fixed + at.local_batch * self.compute_per_sample
        )
        fixed = np.where(at.crosses_nodes, self.cross_node_fixed, self.in_node_fixed)
        further = np.where(at.crosses_nodes, self.cross_node_per_worker, self.in_node_per_worker)
        exchange = fixed + further * np.maximum(at.workers - 2, 0)
        return computation, np.where(at.workers > 1, exchange, 0.0)
