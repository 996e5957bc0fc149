"""How long does a job stand still when it changes? By its size and its step, until it has changed.

A change waits for the step under way, and for what of the state cannot travel beside the training:
at most one copy of the model. Both differ by orders of magnitude between jobs, so that one guess
for all is wrong for nearly all. What changes of this job took says more; as long as it had none, so
does how far this formula was off for others between the same nodes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from autoscaler.planning.speed.all_reduce import AllReduceTable

_BYTES_PER_SECOND: Final = {False: 2e9, True: 1e9}  # across nodes or not; guessed, as in priors
_STEP_UNKNOWN: Final = 0.5  # guessed, in seconds
_RESTART: Final = 20.0  # guessed: a container, the framework, the checkpoint
_SHORTEST: Final = 1e-3  # no estimate is divided by less
_LONGEST: Final = 600.0  # an estimate, not a measurement, is no longer
_LARGEST_RATIO: Final = 20.0  # so far may others' changes move an estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangingJob:
    """What the time of a change depends on. `step_seconds` None: never measured."""

    model_bytes: int = 0
    step_seconds: float | None = None
    is_hot: bool = True  # its workers change without a restart
    crosses_nodes: bool = False
    all_reduce: AllReduceTable | None = None  # measured in its pool


def first_estimate(job: ChangingJob) -> float:
    """One step and one copy of the model, in seconds; a restart starts its workers besides."""
    step = _STEP_UNKNOWN if job.step_seconds is None else max(job.step_seconds, 0.0)
    seconds = step + _copy_seconds(job)
    return min(seconds if job.is_hot else seconds + _RESTART, _LONGEST)


def expected_stall(job: ChangingJob, *, measured: float | None, ratio: float | None) -> float:
    """What its own changes took on average; else the first estimate, times how far off it was.

    `measured` None: it has not changed yet. `ratio`: how long changes between its nodes took, over
    what was first estimated of them; None: there were none.
    """
    if measured is not None:
        return measured
    known = 1.0 if ratio is None else min(max(ratio, 1 / _LARGEST_RATIO), _LARGEST_RATIO)
    return first_estimate(job) * known


def ratio_of(job: ChangingJob, stall_seconds: float) -> float:
    """Return how far the first estimate was off in one change."""
    return stall_seconds / max(first_estimate(job), _SHORTEST)


def _copy_seconds(job: ChangingJob) -> float:
    size, crosses = max(job.model_bytes, 0), job.crosses_nodes
    if not size:
        return 0.0
    timed = (
        job.all_reduce.seconds(size=size, workers=2, crosses_nodes=crosses)
        if job.all_reduce
        else None
    )
    seconds = size / _BYTES_PER_SECOND[crosses] if timed is None else timed
    return seconds if math.isfinite(seconds) else _LONGEST
