"""May a job be planned by what an earlier run of the same training measured?

Yes, until its own measurements contradict that: then something is different after all, say the
data, and nothing of the earlier run counts any more.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from autoscaler.planning.fitting.fitting import fit
from autoscaler.planning.fitting.handing_on import CONTRADICTORY, configuration
from autoscaler.planning.fitting.observations import configurations, log_seconds, usable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autoscaler.planning.snapshot.cluster_state import StepTime
    from autoscaler.planning.snapshot.job_terms import BatchRange
    from autoscaler.planning.speed.all_reduce import AllReduceTable
    from autoscaler.planning.speed.scaling import ScalingModel


def fit_with_earlier(
    own: Sequence[StepTime],
    earlier: Sequence[StepTime],
    *,
    gpu_type: str = "",
    model_bytes: int = 0,
    batch: BatchRange | None = None,
    all_reduce: AllReduceTable | None = None,
) -> ScalingModel | None:
    """Return what both say of a job's speed on one GPU type; None: nothing at all.

    `earlier`: what an earlier run of the same training measured. See `fit`.
    """

    def fitted(measurements: Sequence[StepTime]) -> ScalingModel | None:
        return fit(
            measurements,
            gpu_type=gpu_type,
            model_bytes=model_bytes,
            batch=batch,
            all_reduce=all_reduce,
        )

    if not own or not earlier:
        return fitted(own or earlier)
    known = fitted(earlier)
    here = [one for one in own if one.gpu_type == gpu_type]
    if known is None or _is_contradicted(known, here, batch):
        return fitted(own)
    measured = {configuration(one) for one in own}
    return fitted([*own, *(one for one in earlier if configuration(one) not in measured)])


def _is_contradicted(
    known: ScalingModel, own: Sequence[StepTime], batch: BatchRange | None
) -> bool:
    """True if a step took much longer, or much less long, than the earlier run lets expect."""
    observations = usable(own, batch)
    if not observations:
        return False
    at = configurations(observations, batch.max_per_gpu if batch else None)
    off = log_seconds(observations) - np.log(known.throughput.step_seconds(at))
    return bool((np.abs(off) > math.log(CONTRADICTORY) + known.relative_error(at)).any())
