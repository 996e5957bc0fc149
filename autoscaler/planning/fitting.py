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
from autoscaler.planning.throughput import ThroughputModel, log_step_seconds, slopes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from autoscaler.planning.all_reduce import AllReduceTable
    from autoscaler.planning.cluster_state import Measurement
    from autoscaler.planning.observations import Observation
    from autoscaler.planning.priors import Prior
    from autoscaler.planning.throughput import Column

_MEASUREMENT_ERROR: Final = 0.07  # relative; the weight of one measurement against the prior
_CREDIBLE: Final = 2.0  # errors beyond so many standard deviations are doubted
_PUT_UP_WITH: Final = 1.0  # growth of half the squared residuals; 0.5 on a straight valley
_HALVINGS: Final = 5
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


def forget() -> None:
    """Fit everything anew from now on."""
    _fit.cache_clear()


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
    theta, deviations = _likeliest(here, prior, micro_batch)
    return ScalingModel(
        throughput=ThroughputModel.from_logarithms(theta),
        deviations=tuple(map(tuple, deviations.tolist())),
        measured_workers=max((o.workers for o in here), default=0),
        measured_batch=max(o.global_batch_size for o in observations),
    )


def _likeliest(
    observations: tuple[Observation, ...], prior: Prior, micro_batch: int | None
) -> tuple[Column, Column]:
    """The logarithms of the likeliest numbers, and the deviations around them."""
    if not observations:
        width = np.diag(prior.width)
        return prior.mean, np.vstack((width, -width))
    at, measured = configurations(observations, micro_batch), log_seconds(observations)

    def errors(theta: Column) -> Column:
        return (log_step_seconds(theta, at) - measured) / _MEASUREMENT_ERROR

    def residuals(theta: Column) -> Column:
        return np.concatenate((errors(theta), (theta - prior.mean) / prior.width))

    def jacobian(theta: Column) -> Column:
        return np.vstack((slopes(theta, at) / _MEASUREMENT_ERROR, np.diag(1 / prior.width)))

    lower, upper = prior.mean - _REACH, prior.mean + _REACH
    lower[-1], upper[-1] = _OVERLAP_BOUNDS
    found = least_squares(
        residuals,
        prior.mean,
        jac=jacobian,
        bounds=(lower, upper),
        method="dogbox",
        loss="soft_l1",
        f_scale=_CREDIBLE,
        xtol=1e-3,
        ftol=1e-3,
    )
    axes = _axes(errors(found.x), jacobian(found.x))

    def misfit(thetas: Column) -> Column:
        """Half the squared residuals, a number for each model; doubted data as in the fit."""
        off = (log_step_seconds(thetas, at) - measured) / _MEASUREMENT_ERROR
        doubted = _CREDIBLE**2 * (np.sqrt(1 + (off / _CREDIBLE) ** 2) - 1)
        return np.asarray(
            doubted.sum(axis=-1) + (((thetas - prior.mean) / prior.width) ** 2).sum(axis=-1) / 2
        )

    return found.x, _credible(found.x, np.vstack((axes, -axes)), misfit)


def _axes(misfit: Column, jacobian: Column) -> Column:
    """Rows of seven: the axes of the covariance (jacobian' jacobian)^-1, doubted data left out.

    Measurements that contradict each other more than their error allows make all of them count
    for less: their weight is divided by the mean square of what remains unexplained.
    """
    weights = 1 / np.sqrt(1 + (misfit / _CREDIBLE) ** 2)  # of the soft L1 loss
    unexplained = max(float(np.mean(weights * misfit**2)), 1.0)
    rows = jacobian.copy()
    rows[: len(misfit)] *= np.sqrt(weights / unexplained)[:, None]
    precision, axes = np.linalg.eigh(rows.T @ rows)
    return np.asarray(axes.T / np.sqrt(precision)[:, None])


def _credible(theta: Column, deviations: Column, misfit: Callable[[Column], Column]) -> Column:
    """The deviations, halved until the measurements put up with them.

    A straight line that far may leave the curved valley of models that fit: what is a standard
    deviation by the slopes would then contradict what was measured.
    """
    bound = misfit(theta[None, :]) + _PUT_UP_WITH
    for _ in range(_HALVINGS):
        too_far = misfit(theta + deviations) > bound
        deviations = np.where(too_far[:, None], deviations / 2, deviations)
    return deviations
