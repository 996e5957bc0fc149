"""Which of the reported step times can be believed, and in which form does a fit read them?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from autoscaler.planning.speed.throughput import Configurations

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from autoscaler.planning.snapshot.cluster_state import StepTime
    from autoscaler.planning.snapshot.job_terms import BatchRange
    from autoscaler.planning.speed.throughput import Column

MIN_STEPS: Final = 3  # guessed: fewer steps than this are still warm-up
PLAUSIBLE_SECONDS: Final = (1e-6, 1e5)

_SIGNIFICANT_DIGITS: Final = 3  # a change below 0.1 % is no reason to fit again
_IMPOSSIBLE: Final = 3.0  # guessed: so many times more than the workers explain


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One usable measurement, rounded so that equal ones compare equal.

    `magnitude` is how many digits the number of its steps has.
    """

    gpu_type: str
    workers: int
    crosses_nodes: bool
    global_batch_size: int
    step_seconds: float
    magnitude: int = 1

    @property
    def local_batch(self) -> int:
        return math.ceil(self.global_batch_size / self.workers)


def usable(
    measurements: Iterable[StepTime], batch: BatchRange | None = None
) -> tuple[Observation, ...]:
    """The measurements that can be believed, in a stable order.

    `batch` is the job's range, if known: nobody gave it any other, and a single report of a
    billion samples would outweigh all others.
    """
    credible = (
        _observation(measurement)
        for measurement in measurements
        if _is_plausible(measurement) and _is_within(batch, measurement.global_batch_size)
    )
    ordered = sorted(
        credible,
        key=lambda o: (
            o.gpu_type, o.workers, o.crosses_nodes, o.global_batch_size, o.step_seconds,
            o.magnitude,
        ),
    )  # fmt: skip
    return tuple(one for one in ordered if not any(_is_refuted(one, by) for by in ordered))


def configurations(
    observations: Sequence[Observation], micro_batch: int | None = None
) -> Configurations:
    """The observations as columns."""
    return Configurations.of(
        workers=[o.workers for o in observations],
        crosses_nodes=[o.crosses_nodes for o in observations],
        global_batch=[o.global_batch_size for o in observations],
        micro_batch=micro_batch,
    )


def log_seconds(observations: Sequence[Observation]) -> Column:
    return np.log([o.step_seconds for o in observations])


def _is_refuted(one: Observation, by: Observation) -> bool:
    """True if both cannot be right, and the other one was timed over many more steps.

    Sharing a batch brings at most as much as there is less to do: the computation of L
    samples takes a + b L, so alone no step takes longer than L(alone) / L(shared) shared ones.
    So a first report that was much too slow does not stand for ever, though nobody goes back to
    that size and times it again.
    """
    if one.gpu_type != by.gpu_type or one.magnitude >= by.magnitude:
        return False
    alone, shared = (one, by) if one.workers == 1 else (by, one)
    if alone.workers > 1 or shared.workers == 1:
        return False
    more = max(alone.local_batch / shared.local_batch, 1.0)
    return alone.step_seconds > _IMPOSSIBLE * more * shared.step_seconds


def _observation(measurement: StepTime) -> Observation:
    return Observation(
        gpu_type=measurement.gpu_type,
        workers=measurement.workers,
        crosses_nodes=measurement.nodes > 1,
        global_batch_size=measurement.global_batch_size,
        step_seconds=float(f"{measurement.step_seconds:.{_SIGNIFICANT_DIGITS}g}"),
        magnitude=len(str(measurement.steps)),
    )


def _is_plausible(measurement: StepTime) -> bool:
    shortest, longest = PLAUSIBLE_SECONDS
    return (
        measurement.steps >= MIN_STEPS
        and measurement.workers >= 1
        and 1 <= measurement.nodes <= measurement.workers
        and measurement.global_batch_size >= measurement.workers
        and math.isfinite(measurement.step_seconds)
        and shortest <= measurement.step_seconds <= longest
    )


def _is_within(batch: BatchRange | None, size: int) -> bool:
    return batch is None or batch.minimum <= size <= batch.maximum
