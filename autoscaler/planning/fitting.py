"""Which throughput model fits a job's measurements best, and how sure is it?

Seven numbers cannot be read from one or two measurements, so they start from a prior and move
only as far as the measurements ask: a maximum a posteriori fit of log step times over the
logarithms of the numbers, with bounds. Absurd measurements pull less the more absurd they are.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.optimize import least_squares

from autoscaler.planning.observations import configurations, log_seconds, usable
from autoscaler.planning.priors import prior_from_model_size, prior_from_other_type
from autoscaler.planning.scaling import ScalingModel
from autoscaler.planning.throughput import ThroughputModel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from autoscaler.planning.all_reduce import AllReduceTable
    from autoscaler.planning.cluster_state import Measurement
    from autoscaler.planning.observations import Observation
    from autoscaler.planning.priors import Prior
    from autoscaler.planning.throughput import Column

_MEASUREMENT_ERROR: Final = 0.05  # relative; the weight of one measurement against the prior
_CREDIBLE: Final = 3.0  # errors beyond so many standard deviations are doubted
_REACH: Final = 12.0  # no number moves further than e^12 from its prior
_OVERLAP_BOUNDS: Final = (0.0, math.log(10.0))


def fit(
    measurements: Iterable[Measurement],
    *,
    gpu_type: str = "",
    model_bytes: int = 0,
    micro_batch: int | None = None,
    all_reduce: AllReduceTable | None = None,
) -> ScalingModel | None:
    """What all of a job's measurements say of its speed on one GPU type; None: nothing at all.

    Measurements of other types are the prior of this one. About 3 ms, then cached.
    """
    observations = usable(measurements)
    if not observations:
        return None
    return _fit(observations, gpu_type, model_bytes, micro_batch, all_reduce)


@lru_cache(maxsize=16384)
def _fit(
    observations: tuple[Observation, ...],
    gpu_type: str,
    model_bytes: int,
    micro_batch: int | None,
    table: AllReduceTable | None,
) -> ScalingModel:
    here = tuple(o for o in observations if o.gpu_type == gpu_type)
    there = tuple(o for o in observations if o.gpu_type != gpu_type)
    if there:
        prior = prior_from_model_size(there, model_bytes=model_bytes, table=None)
        other, _ = _likeliest(there, prior, micro_batch)
        prior = prior_from_other_type(other, here, model_bytes=model_bytes, table=table)
    else:
        prior = prior_from_model_size(here, model_bytes=model_bytes, table=table)
    model, covariance = _likeliest(here, prior, micro_batch)
    return ScalingModel(
        throughput=model,
        covariance=tuple(map(tuple, covariance.tolist())),
        measured_workers=max((o.workers for o in here), default=0),
        measured_batch=max(o.global_batch_size for o in observations),
    )


def _likeliest(
    observations: tuple[Observation, ...], prior: Prior, micro_batch: int | None
) -> tuple[ThroughputModel, Column]:
    """The model, and the covariance of the logarithms of its numbers."""
    if not observations:
        return ThroughputModel.from_logarithms(prior.mean), np.diag(prior.width**2)
    at, measured = configurations(observations, micro_batch), log_seconds(observations)

    def errors(theta: Column) -> Column:
        predicted = np.log(ThroughputModel.from_logarithms(theta).step_seconds(at))
        return np.asarray((predicted - measured) / _MEASUREMENT_ERROR)

    def residuals(theta: Column) -> Column:
        return np.concatenate((errors(theta), (theta - prior.mean) / prior.width))

    def slopes(theta: Column) -> Column:
        of_data = ThroughputModel.from_logarithms(theta).slopes(at) / _MEASUREMENT_ERROR
        return np.vstack((of_data, np.diag(1 / prior.width)))

    lower, upper = prior.mean - _REACH, prior.mean + _REACH
    lower[-1], upper[-1] = _OVERLAP_BOUNDS
    found = least_squares(
        residuals,
        prior.mean,
        jac=slopes,
        bounds=(lower, upper),
        method="dogbox",
        loss="soft_l1",
        f_scale=_CREDIBLE,
        xtol=1e-3,
        ftol=1e-3,
    )
    return ThroughputModel.from_logarithms(found.x), _covariance(found.x, errors, slopes)


def _covariance(
    theta: Column, errors: Callable[[Column], Column], slopes: Callable[[Column], Column]
) -> Column:
    """The inverse of (slopes' slopes), doubted measurements weighted down.

    Measurements that contradict each other more than their error allows make all of them count
    for less: their weight is divided by the mean square of what remains unexplained.
    """
    misfit = errors(theta)
    weights = 1 / np.sqrt(1 + (misfit / _CREDIBLE) ** 2)  # of the soft L1 loss
    unexplained = max(float(np.mean(weights * misfit**2)), 1.0)
    rows = slopes(theta)
    rows[: len(misfit)] *= np.sqrt(weights / unexplained)[:, None]
    return np.asarray(np.linalg.inv(rows.T @ rows))
