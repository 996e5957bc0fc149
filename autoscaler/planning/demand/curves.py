"""How fast could a job be at each size, and how sure is that? Computed once, then remembered.

A curve depends on what is known of the job's speed, on its rules and on the pool's shape, but on
no other job and not on the time. Most ticks change none of these, so curves are cached by exactly
that: its `CurveInputs`. A new one costs a fraction of a millisecond, all sizes and batches at once.

Speeds are compared as S(k) = goodput(b_opt(k), k) / goodput(base batch, smallest size), which is
the founding paper's scaling factor T(b_opt(k), k) / T_base while the gradient noise is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from autoscaler.planning.demand.batch import NO_BATCH, FeasibleBatches, best_batches
from autoscaler.planning.demand.batch_growth import largest_next_batch, least_gain
from autoscaler.planning.demand.sizes import allowed_sizes
from autoscaler.planning.speed.goodput import efficiency
from autoscaler.planning.speed.scaling import NOTHING_KNOWN
from autoscaler.planning.speed.throughput import Configurations

if TYPE_CHECKING:
    from autoscaler.planning.demand.batch import Column, Counts
    from autoscaler.planning.demand.curve_inputs import CurveInputs


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """A number of workers with its batch and what the model predicts. A rate of 0: not known.

    `speedup` compares goodputs: `efficiency` is what a sample is worth at this batch beside one of
    the base batch. `relative_error` is one standard deviation of the predicted rate. A size that
    `spans_nodes` was predicted for workers on several nodes.
    """

    workers: int
    global_batch_size: int
    samples_per_second: float
    speedup: float
    efficiency: float = 1.0
    relative_error: float = NOTHING_KNOWN
    spans_nodes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """All sizes of a job, ascending; of these the first `reach` may be tried now."""

    sizes: tuple[Size, ...]
    reach: int
    smallest: int  # of the sizes; the job's minimum where it fits no way into the pool
    base_rate: float  # samples per second at the base batch and the smallest size; 0: not known


@lru_cache(maxsize=16384)  # some KiB each
def curve_of(inputs: CurveInputs) -> Curve:
    """The job's speed at every size it may have, each with its best batch."""
    counts = allowed_sizes(inputs.workers, inputs.shape)
    smallest = counts[0] if counts else inputs.workers.minimum
    base_rate = _base_rate(inputs, smallest)
    if inputs.also:
        counts = tuple(sorted({*counts, inputs.also}))
    workers = np.array(counts, dtype=np.int64)
    if not counts:
        return Curve(sizes=(), reach=0, smallest=smallest, base_rate=base_rate)
    batches = _batches(inputs, workers)
    fits = batches != NO_BATCH
    predicted = _Prediction.of(inputs, workers[fits], batches[fits])
    sizes = predicted.sizes(smallest=smallest, base_rate=base_rate)
    return Curve(
        sizes=sizes,
        reach=len(sizes) if _may_try_all(inputs) else min(len(sizes), 1),
        smallest=smallest,
        base_rate=base_rate,
    )


@lru_cache(maxsize=16384)
def size_at(inputs: CurveInputs, workers: int, batch: int, crosses_nodes: bool) -> Size:  # noqa: FBT001 - part of the key
    """Return what a job does at one configuration, whether or not it may choose it."""
    curve = curve_of(inputs)
    at = np.array([workers]), np.array([batch])
    predicted = _Prediction.of(inputs, *at, crosses_nodes=np.array([crosses_nodes]))
    (size,) = predicted.sizes(smallest=curve.smallest, base_rate=curve.base_rate)
    return size


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prediction:
    """Columns: what the model says of some configurations."""

    workers: Counts
    batches: Counts
    shares_work: bool
    rates: Column  # samples per second; 0 where nothing is known
    efficiencies: Column
    errors: Column
    crosses: np.typing.NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        inputs: CurveInputs,
        workers: Counts,
        batches: Counts,
        crosses_nodes: np.typing.NDArray[np.bool_] | None = None,
    ) -> _Prediction:
        crosses = workers > inputs.workers_per_node if crosses_nodes is None else crosses_nodes
        rates, errors = np.zeros(len(workers)), np.full(len(workers), NOTHING_KNOWN)
        if inputs.scaling is not None and len(workers) and workers[0] > 0:
            at = _configurations(inputs, workers, crosses, batches)
            rates = batches / inputs.scaling.throughput.step_seconds(at)
            errors = inputs.scaling.relative_error(at)
        return cls(
            workers=workers,
            batches=batches,
            shares_work=inputs.shares_work,
            rates=rates,
            efficiencies=_efficiency(inputs, batches),
            errors=errors,
            crosses=crosses,
        )

    def sizes(self, *, smallest: int, base_rate: float) -> tuple[Size, ...]:
        """Unmeasured jobs count as if they scaled with the square root of their workers.

        Workers that do not share the work are as fast as one.
        """
        guess = np.sqrt(np.maximum(self.workers, 1) / smallest)
        goodputs = self.rates * self.efficiencies
        speedups = np.where(goodputs > 0, goodputs / (base_rate or 1.0), guess)
        speedups = speedups if self.shares_work else np.ones(len(self.workers))
        columns = (
            self.workers, self.batches, self.rates, speedups, self.efficiencies, self.errors,
            self.crosses,
        )  # fmt: skip
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return tuple(
            Size(
                workers=workers,
                global_batch_size=batch,
                samples_per_second=rate,
                speedup=speedup,
                efficiency=worth,
                relative_error=error,
                spans_nodes=spans,
            )
            for workers, batch, rate, speedup, worth, error, spans in rows
        )


def _batches(inputs: CurveInputs, workers: Counts) -> Counts:
    """The best batch by number of workers; while nothing is known, the one nearest to today's.

    Known gradient noise says itself where a larger batch stops paying, so the whole range is open.
    """
    rules, scaling = inputs.batch, inputs.scaling
    feasible = FeasibleBatches.of(rules, workers, at_most=largest_next_batch(inputs))
    if scaling is None:
        return feasible.nearest(inputs.current_batch or rules.base)
    crosses = workers > inputs.workers_per_node

    def goodput(batches: Counts) -> Column:
        at = _configurations(inputs, workers[:, None], crosses[:, None], batches)
        return batches / scaling.throughput.step_seconds(at) * _efficiency(inputs, batches)

    return best_batches(
        feasible,
        goodput,
        max_per_gpu=rules.max_per_gpu,
        current=inputs.current_batch,
        least_gain=least_gain(inputs),
    )


def _base_rate(inputs: CurveInputs, smallest: int) -> float:
    rules, workers = inputs.batch, np.array([smallest])
    feasible = FeasibleBatches.of(rules, workers, at_most=rules.maximum)
    base = int(feasible.nearest(rules.base)[0]) or rules.base
    predicted = _Prediction.of(inputs, workers, np.array([base]))
    return float(predicted.rates[0] * predicted.efficiencies[0])


def _may_try_all(inputs: CurveInputs) -> bool:
    """Say whether a job may try all sizes at once, or only its smallest.

    One measurement opens them all: from there the model is the best guess, and what it expects too
    much of is measured there and left again. Whoever waits for a measurement that never comes may
    try them all, too. Workers that do not share the work have no use for more.
    """
    if not inputs.shares_work:
        return False
    if inputs.scaling is None:
        return not inputs.is_measurable
    return inputs.scaling.measured_workers > 0


def _configurations(
    inputs: CurveInputs,
    workers: Counts,
    crosses: np.typing.NDArray[np.bool_],
    batches: Counts,
) -> Configurations:
    return Configurations.of(
        workers=workers,
        crosses_nodes=crosses,
        global_batch=batches,
        micro_batch=inputs.batch.max_per_gpu,
    )


def _efficiency(inputs: CurveInputs, batches: Counts) -> Column:
    return efficiency(batches, base_batch=inputs.batch.base, noise_scale=inputs.noise_scale)
