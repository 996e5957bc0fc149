"""Which throughput model fits a job's measurements best, and how sure is it?

Seven numbers cannot be read from one or two measurements, so they start from a prior and move
only as far as the measurements ask: a maximum a posteriori fit of log step times over the
logarithms of the numbers, with bounds. Measurements pull less the less they agree with the model;
the few that contradict all others are left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.optimize import least_squares

from autoscaler.planning.fitting.observations import configurations, log_seconds, usable
from autoscaler.planning.fitting.priors import prior_from_model_size, prior_from_other_type
from autoscaler.planning.speed.scaling import ScalingModel
from autoscaler.planning.speed.throughput import ThroughputModel, log_step_seconds, slopes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from autoscaler.planning.fitting.observations import Observation
    from autoscaler.planning.fitting.priors import Prior
    from autoscaler.planning.snapshot.cluster_state import StepTime
    from autoscaler.planning.snapshot.job_terms import BatchRange
    from autoscaler.planning.speed.all_reduce import AllReduceTable
    from autoscaler.planning.speed.throughput import Column

_MEASUREMENT_ERROR: Final = 0.07  # relative; the weight of one measurement against the prior
_CREDIBLE: Final = 2.0  # errors beyond so many standard deviations are doubted
_CONTRADICTORY: Final = 3.0  # guessed: so many times off from what all others say
_MOST_CONTRADICTORY: Final = 0.25  # of the measurements; of more nobody knows who is right
_PUT_UP_WITH: Final = 1.0  # growth of half the squared residuals; 0.5 on a straight valley
_HALVINGS: Final = 5
_REACH: Final = 12.0  # no number moves further than e^12 from its prior
_OVERLAP_BOUNDS: Final = (0.0, math.log(10.0))


def fit(
    measurements: Iterable[StepTime],
    *,
    gpu_type: str = "",
    model_bytes: int = 0,
    batch: BatchRange | None = None,
    all_reduce: AllReduceTable | None = None,
) -> ScalingModel | None:
    """Return what a job's measurements say of its speed on one GPU type; None: nothing at all.

    Measurements of other types are the prior of this one. About 3 ms, then cached.
    """
    observations = usable(measurements, batch)
    if not observations:
        return None
    micro_batch = batch.max_per_gpu if batch else None
    return _fit(observations, gpu_type, model_bytes, micro_batch, all_reduce)


def forget() -> None:
    """Fit everything anew from now on."""
    _fit.cache_clear()


@lru_cache(maxsize=16384)  # of fewer than there are jobs none would last; some 3 KiB each, or 25
def _fit(
    observations: tuple[Observation, ...],
    gpu_type: str,
    model_bytes: int,
    micro_batch: int | None,
    table: AllReduceTable | None,
) -> ScalingModel:
    here = tuple(o for o in observations if o.gpu_type == gpu_type)
    there = tuple(o for o in observations if o.gpu_type != gpu_type)
    prior_of = partial(prior_from_model_size, model_bytes=model_bytes, table=table)
    if there:
        untimed = partial(prior_from_model_size, model_bytes=model_bytes, table=None)
        other = _agreed(there, untimed, micro_batch)
        prior_of = partial(prior_from_other_type, other.theta, model_bytes=model_bytes, table=table)
        there = other.believed
    found = _agreed(here, prior_of, micro_batch)
    return ScalingModel(
        throughput=ThroughputModel.from_logarithms(found.theta),
        deviations=tuple(map(tuple, found.deviations.tolist())),
        measured_workers=max((o.workers for o in found.believed), default=0),
        measured_batch=max(o.global_batch_size for o in (*found.believed, *there)),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Fit:
    """The logarithms of the likeliest numbers, the deviations around them, and who agrees."""

    theta: Column
    deviations: Column
    believed: tuple[Observation, ...]


def _agreed(
    observations: tuple[Observation, ...],
    prior_of: Callable[[tuple[Observation, ...]], Prior],
    micro_batch: int | None,
) -> _Fit:
    """The fit to the measurements that agree with each other, and the prior they suggest."""
    theta, deviations = _likeliest(observations, prior_of(observations), micro_batch)
    believed = _believed(observations, theta, micro_batch)
    if len(believed) < len(observations):
        theta, deviations = _likeliest(believed, prior_of(believed), micro_batch)
    return _Fit(theta=theta, deviations=deviations, believed=believed)


def _believed(
    observations: tuple[Observation, ...], theta: Column, micro_batch: int | None
) -> tuple[Observation, ...]:
    """All but the few that are furthest from what the fit to all of them says."""
    most = int(_MOST_CONTRADICTORY * len(observations))
    if not most:
        return observations
    predicted = log_step_seconds(theta, configurations(observations, micro_batch))
    off = np.abs(predicted - log_seconds(observations))
    furthest = np.argsort(-off, kind="stable")[:most]
    doubted = set(furthest[off[furthest] > math.log(_CONTRADICTORY)].tolist())
    return tuple(o for index, o in enumerate(observations) if index not in doubted)


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
