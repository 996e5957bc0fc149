"""What is known of a job's speed on one GPU type, and how sure is it?

A `ScalingModel` is what a snapshot carries of a job instead of its measurements: the likeliest
throughput model, how far its numbers may be off, and how far the job has been measured.

The error of a prediction follows from the fit. What the measurements leave open is a cloud of
models around the likeliest one, described by *deviations*: seven independent directions, forth and
back, each as far as one standard deviation and the measurements allow. A step time is predicted
with each of them; the root of half their summed squares is the error. Near what was measured no
deviation matters; further away those show that no measurement has fixed. (Slopes at the likeliest
model alone would miss an exchange that is short by a guess: ten times longer, it rules the step.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from autoscaler.planning.speed.throughput import log_step_seconds

if TYPE_CHECKING:
    from autoscaler.planning.speed.throughput import Column, Configurations, ThroughputModel

NOTHING_KNOWN: Final = 1.0  # the relative error of a speed nobody has an idea of


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingModel:
    """A throughput model with its certainty. Cheap to hash: a job's keys are made of it.

    `deviations` are rows of seven in natural logarithms, all directions forth and then all of them
    back; none: the model is known exactly. `measured_workers` is the most the job was measured
    with on this GPU type (0: a guess from another type), `measured_batch` the largest global batch
    measured on any.
    """

    throughput: ThroughputModel
    deviations: tuple[tuple[float, ...], ...] = ()
    measured_workers: int = 0
    measured_batch: int = 0

    def __hash__(self) -> int:
        return hash((self.throughput.compute_per_sample, self.measured_workers))

    def relative_error(self, at: Configurations) -> Column:
        """One standard deviation of the predicted step times, relative to them."""
        if not self.deviations:
            return np.zeros(len(at.workers))
        theta, deviations = self.throughput.logarithms(), np.array(self.deviations)
        off = log_step_seconds(theta + deviations, at) - log_step_seconds(theta, at)
        return np.asarray(np.sqrt((off**2).sum(axis=0) / 2))

    def error(self, standard_normals: Column) -> Column:
        """Return how far the logarithms of the seven numbers are off, in one of seven draws."""
        if not self.deviations:
            return np.zeros_like(standard_normals)
        forth, back = np.split(np.array(self.deviations), 2)
        return np.asarray(
            np.maximum(standard_normals, 0) @ forth + np.maximum(-standard_normals, 0) @ back
        )
