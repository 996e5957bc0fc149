"""What would every job choose at its group's price, and what does each other choice lose?

With a price p_t per group (see `prices`) and mu_t what it adds to its parent's price, the value of
any selection within the bounds is

    bound  -  sum over the jobs of loss(option)  -  sum over the groups of |mu_t| * slack_t

    loss(option) = max over the job's options of (v - p g)  -  (v - p g)   of the option,   >= 0
    slack_t      = most_t - gpus_t  where mu_t > 0,   gpus_t - least_t  where mu_t < 0,     >= 0

so the best selection is the one that loses least.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from autoscaler.planning.optimizer.concave import Hulls, hulls
from autoscaler.planning.optimizer.prices import group_prices
from autoscaler.planning.optimizer.problem import POOL

if TYPE_CHECKING:
    from autoscaler.planning.optimizer.problem import AllocationProblem, Floats, Integers

ULPS: Final = 2.0**-48  # sixteen units in the last place: a few additions


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Relaxation:
    """The bound, what it is attained by apart from slack, and what every option loses."""

    bound: float
    base: Integers  # of each job: the option that loses nothing
    losses: Floats  # of each option
    jobs: Integers  # of each option
    totals: Integers  # of each group: GPUs of the base, groups below included
    multipliers: Floats  # of each group: mu
    targets: Integers  # of each group: the bound its multiplier presses it to
    rounding: float  # losses that differ by less are equal


def relax(problem: AllocationProblem) -> Relaxation | None:
    """None when the bounds cannot be met."""
    if not np.diff(problem.starts).all():
        return None  # a job without options
    curves = hulls(problem)
    prices = group_prices(problem, curves)
    if prices is None:
        return None
    multipliers = np.concatenate((prices[:1], prices[1:] - prices[problem.parents[1:]]))
    targets = np.where(multipliers < 0, problem.least, problem.most)
    base, totals = _base(problem, curves, prices[problem.groups], targets)
    jobs = np.repeat(np.arange(problem.jobs), np.diff(problem.starts))
    costs = prices[problem.groups][jobs] * problem.sizes
    surplus = problem.values - costs
    is_pressed = multipliers != 0
    return Relaxation(
        bound=float(surplus[base].sum() + (multipliers * targets)[is_pressed].sum()),
        base=base,
        losses=np.maximum(surplus[base][jobs] - surplus, 0.0),
        jobs=jobs,
        totals=totals,
        multipliers=multipliers,
        targets=targets,
        rounding=ULPS * float((np.abs(problem.values) + np.abs(costs)).max(initial=0.0)),
    )


def _base(
    problem: AllocationProblem, curves: Hulls, prices: Floats, targets: Integers
) -> tuple[Integers, Integers]:
    """The corner each job takes at its price, and the groups' totals.

    An edge exactly at the price may be taken or not: it is while its groups keep to their targets,
    so that the base comes close to them however many jobs are alike.
    """
    price = prices[curves.jobs]
    taken = np.bincount(curves.jobs[curves.slopes > price], minlength=problem.jobs)
    totals = _totals(problem, problem.sizes[curves.corners[curves.first + taken]])
    first_edge = curves.first - np.arange(problem.jobs)
    for edge in np.flatnonzero((curves.slopes == price) & (price != 0)).tolist():
        job = curves.jobs[edge]
        path = _path(problem, int(problem.groups[job]))
        fits = (totals[path] + curves.lengths[edge] <= targets[path]).all()
        if fits and edge == first_edge[job] + taken[job]:
            totals[path] += curves.lengths[edge]
            taken[job] += 1
    return curves.corners[curves.first + taken], totals


def _path(problem: AllocationProblem, group: int) -> list[int]:
    path = [group]
    while path[-1] != POOL:
        path.append(int(problem.parents[path[-1]]))
    return path


def _totals(problem: AllocationProblem, gpus: Integers) -> Integers:
    totals = np.bincount(problem.groups, weights=gpus, minlength=len(problem.parents))
    for group in range(len(totals) - 1, POOL, -1):
        totals[problem.parents[group]] += totals[group]
    return totals.astype(np.int64)
