"""How fast may a job's batch grow? As far as its gradient noise says; without, by doubling.

The noise scale says what a sample of a larger batch is worth, so a job takes its best batch at once
and leaves the rest to the learning rate's ramp (Lin et al., *Dynamic Mini-batch SGD for Elastic
Distributed Training*, 2019). While nobody has measured it, a batch at most doubles per rescale, and
only after the present one was measured and has settled; the factor and the time are our own choice.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from autoscaler.planning.demand.batch import MIN_BATCH_GAIN
from autoscaler.planning.demand.change_cost import MIN_GAIN

if TYPE_CHECKING:
    from autoscaler.planning.demand.curve_inputs import CurveInputs
    from autoscaler.planning.snapshot.cluster_state import PlannedJob

LARGEST_STEP: Final = 2
BATCH_SETTLES_SECONDS: Final = 30.0  # guessed: after a change it grows no sooner


def has_settled(job: PlannedJob, now: float) -> bool:
    """True if it has trained with its present batch for a while."""
    times = (job.last_rescaled_at, job.running_since)
    changed_at = max((time for time in times if time is not None), default=-math.inf)
    return now - changed_at >= BATCH_SETTLES_SECONDS


def largest_next_batch(inputs: CurveInputs) -> int:
    """The most samples that the next change may bring; never less than the present batch."""
    if inputs.scaling is None or inputs.noise_scale is not None:
        return inputs.batch.maximum
    measured, current = inputs.scaling.measured_batch, inputs.current_batch
    if current is None:  # a start: nothing larger than what is known to work
        return max(measured, inputs.batch.base)
    grown = LARGEST_STEP * min(measured, current) if inputs.may_grow else 0
    return max(grown, current)


def least_gain(inputs: CurveInputs) -> float:
    """What a batch has to gain over the present one.

    While the noise scale is unknown only step times decide. After one measurement twice the batch
    is expected to gain a ninth, and that has to be enough: a job that never tries never finds out
    that its steps take hardly longer then.
    """
    return MIN_GAIN if inputs.noise_scale is None else MIN_BATCH_GAIN
