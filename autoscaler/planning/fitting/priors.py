"""What is believed of a job's speed before its measurements say otherwise?

Seven numbers cannot be read from one or two step times. A prior gives each of them a likely value
and a width, both in natural logarithms: as far as measurements say nothing, the value stands, and
the width says how little it is trusted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from autoscaler.planning.fitting.observations import configurations, log_seconds
from autoscaler.planning.speed.throughput import log_step_seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autoscaler.planning.fitting.observations import Observation
    from autoscaler.planning.speed.all_reduce import AllReduceTable
    from autoscaler.planning.speed.throughput import Column

# All guessed. They matter only until two sizes are measured.
_IN_NODE_BYTES_PER_SECOND: Final = 2e9
_CROSS_NODE_BYTES_PER_SECOND: Final = 1e9
_EXCHANGE_LATENCY_SECONDS: Final = 1e-3
_EXCHANGE_SHARE_WITHOUT_MODEL_SIZE: Final = 0.1  # of the step
_FIXED_SHARE_OF_COMPUTATION: Final = 0.2
_GROWTH_IN_NODE: Final = 0.2  # of the exchange, by each worker after the second: one bus for all
_GROWTH_ACROSS_NODES: Final = 0.05  # a ring sends as much over each link, however long it is
_OVERLAP: Final = 2.0

_COMPUTATION_WIDTHS: Final = (1.0, 2.0)  # fixed, per sample
_OVERLAP_WIDTH: Final = 0.5
_GUESSED_WIDTH: Final = 2.5  # of an exchange that nobody has timed: by a factor of 10
_TIMED_WIDTH: Final = 0.5  # of one from the pool's table; a model is more than its gradient
_OTHER_TYPE_WIDTHS: Final = (1.0, 1.5)  # of computation and exchange fitted on another GPU type
_LARGEST_RATIO: Final = 3.0  # in logarithms: GPU types differ at most so much in speed


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """Independent normal distributions of the logarithms of a throughput model's numbers."""

    mean: Column
    width: Column


def prior_from_model_size(
    observations: Sequence[Observation], *, model_bytes: int, table: AllReduceTable | None
) -> Prior:
    """Computation from the smallest configuration measured, the exchange from the model's size."""
    smallest = min(observations, key=lambda o: (o.workers, -o.global_batch_size))
    computation = smallest.step_seconds * (1.0 if smallest.workers == 1 else 0.8)
    fixed = _FIXED_SHARE_OF_COMPUTATION
    numbers = [fixed * computation, (1 - fixed) * computation / smallest.local_batch]
    widths = [*_COMPUTATION_WIDTHS]
    for crosses in (False, True):
        line, width = _exchange(model_bytes, table, smallest.step_seconds, crosses_nodes=crosses)
        numbers += line
        widths += [width] * 2
    return Prior(mean=np.log([*numbers, _OVERLAP]), width=np.array([*widths, _OVERLAP_WIDTH]))


def prior_from_other_type(
    other: Column,
    observations: Sequence[Observation],
    *,
    model_bytes: int,
    table: AllReduceTable | None,
) -> Prior:
    """The numbers fitted on another GPU type, computation scaled to what is measured here."""
    mean = other.copy()
    computation, exchange = _OTHER_TYPE_WIDTHS
    width = np.array([computation] * 2 + [exchange] * 4 + [_OVERLAP_WIDTH])
    if observations:  # compared where the exchange counts least
        smallest = [min(observations, key=lambda o: (o.workers, -o.global_batch_size))]
        ratio = log_seconds(smallest) - log_step_seconds(other, configurations(smallest))
        mean[:2] += np.clip(ratio, -_LARGEST_RATIO, _LARGEST_RATIO)
    for crosses, columns in ((False, slice(2, 4)), (True, slice(4, 6))):
        timed = _timed_exchange(model_bytes, table, crosses_nodes=crosses)
        if timed is not None:
            mean[columns], width[columns] = np.log(timed), _TIMED_WIDTH
    return Prior(mean=mean, width=width)


def _exchange(
    model_bytes: int, table: AllReduceTable | None, step_seconds: float, *, crosses_nodes: bool
) -> tuple[list[float], float]:
    """Seconds of an exchange of two workers, seconds per further one, and the prior's width."""
    timed = _timed_exchange(model_bytes, table, crosses_nodes=crosses_nodes)
    if timed is not None:
        return timed, _TIMED_WIDTH
    if model_bytes > 0:  # a ring all-reduce sends the gradient about twice
        rate = _CROSS_NODE_BYTES_PER_SECOND if crosses_nodes else _IN_NODE_BYTES_PER_SECOND
        fixed = _EXCHANGE_LATENCY_SECONDS + 2 * model_bytes / rate
    else:
        fixed = _EXCHANGE_SHARE_WITHOUT_MODEL_SIZE * step_seconds * (2 if crosses_nodes else 1)
    growth = _GROWTH_ACROSS_NODES if crosses_nodes else _GROWTH_IN_NODE
    return [fixed, growth * fixed], _GUESSED_WIDTH


def _timed_exchange(
    model_bytes: int, table: AllReduceTable | None, *, crosses_nodes: bool
) -> list[float] | None:
    """The straight line in the number of workers that is nearest to the pool's table."""
    counts = table.workers(crosses_nodes=crosses_nodes) if table else ()
    if table is None or not counts or model_bytes <= 0:
        return None
    seconds = np.array(
        [
            table.seconds(size=model_bytes, workers=count, crosses_nodes=crosses_nodes)
            for count in counts
        ]
    )
    further = np.array(counts, dtype=float) - 2
    shortest = float(seconds.min())
    slope = (_GROWTH_ACROSS_NODES if crosses_nodes else _GROWTH_IN_NODE) * shortest
    if len(counts) > 1:
        slope = float(np.polyfit(further, seconds, 1)[0])
    slope = max(slope, 1e-3 * shortest)
    return [max(float(np.mean(seconds - slope * further)), 0.1 * shortest), slope]
