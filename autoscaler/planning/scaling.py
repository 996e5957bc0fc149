"""What is known of a job's speed on one GPU type, and how sure is it?

A `ScalingModel` is what a snapshot carries of a job instead of its measurements: the likeliest
throughput model, how far its numbers may be off, and how far the job has been measured.

The error of a prediction follows from the fit: with C the covariance of the logarithms of the
seven numbers and s the slopes of the log step time by them, its variance is s' C s. Near what was
measured the data fix the sum, and the error is that of the measurements; further away numbers
count that no measurement has fixed, and the error grows to what the prior leaves open.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from autoscaler.planning.throughput import Column, Configurations, ThroughputModel

NOTHING_KNOWN: Final = 1.0  # the relative error of a speed nobody has an idea of


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingModel:
    """A throughput model with its certainty. Cheap to hash: a job's keys are made of it.

    `covariance` is that of the logarithms of the model's seven numbers, by rows; empty: they are
    known exactly. `measured_workers` is the most the job was measured with on this GPU type (0: a
    guess from another type), `measured_batch` the largest global batch measured on any.
    """

    throughput: ThroughputModel
    covariance: tuple[tuple[float, ...], ...] = ()
    measured_workers: int = 0
    measured_batch: int = 0

    def __hash__(self) -> int:
        return hash((self.throughput.compute_per_sample, self.measured_workers))

    def relative_error(self, at: Configurations) -> Column:
        """One standard deviation of the predicted step times, relative to them."""
        slopes = self.throughput.slopes(at)
        if not self.covariance:
            return np.zeros(slopes.shape[:-1])
        variance = np.einsum("...i,ij,...j->...", slopes, np.array(self.covariance), slopes)
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)))
