"""From the bound to the optimum: how many options have to be looked at?

The best selection loses least against the bound (see `relaxation`). Take the options that lose
least, a few at first, and find the best selection among them (see `recurrence`). Any selection with
another option loses at least as much as the cheapest option left out: if the one found loses no
more than that, it is the optimum. If not, look at four times as many.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Final

import numpy as np

from autoscaler.planning.optimizer.problem import POOL
from autoscaler.planning.optimizer.recurrence import doubts, least_losses
from autoscaler.planning.optimizer.relaxation import relax
from autoscaler.planning.optimizer.solution import Solution

if TYPE_CHECKING:
    from autoscaler.planning.optimizer.problem import Integers, Problem
    from autoscaler.planning.optimizer.recurrence import Table
    from autoscaler.planning.optimizer.relaxation import Relaxation

FIRST_OPTIONS: Final = 64  # guessed: enough for most instances, cheap where it is not
GROWTH: Final = 4  # so that all attempts together cost little more than the last one


def solve(problem: Problem) -> Solution | None:
    """An optimal split, or None when the claims cannot all be met. Fewest GPUs among equals."""
    relaxation = relax(problem)
    if relaxation is None:
        return None
    in_question = _other_options(problem, relaxation)
    budget, count = _loss_of_base(problem, relaxation), FIRST_OPTIONS
    while True:
        in_question = in_question[relaxation.losses[in_question] <= budget]
        options, left_out = _least(in_question, relaxation, count, budget)
        table = least_losses(problem, relaxation, doubts(problem, relaxation, options), left_out)
        found = _finish(problem, relaxation, table) if table is not None else None
        is_complete = len(options) == len(in_question)
        loses = max(found.loss, found.loss_with_one_more) if found else np.inf
        if is_complete or loses <= left_out:
            return _solution(problem, relaxation, found) if found else None
        budget = min(budget, loses + relaxation.rounding)
        count *= GROWTH


def _other_options(problem: Problem, relaxation: Relaxation) -> Integers:
    is_other = np.ones(len(problem.sizes), dtype=bool)
    is_other[relaxation.base] = False
    return np.flatnonzero(is_other)


def _loss_of_base(problem: Problem, relaxation: Relaxation) -> float:
    """What nobody's deviating costs, in unused GPUs; infinite if it breaks a bound."""
    totals, multipliers = relaxation.totals, relaxation.multipliers
    if (totals > problem.most).any() or (totals < problem.least).any():
        return np.inf
    slack = np.abs(multipliers * (relaxation.targets - totals))[multipliers != 0].sum()
    return float(slack + multipliers[POOL] + relaxation.rounding)


def _least(
    options: Integers, relaxation: Relaxation, count: int, budget: float
) -> tuple[Integers, float]:
    """The `count` options that lose least, ascending, and how much may be lost among them."""
    if len(options) <= count:
        return options, budget
    losses = relaxation.losses[options]
    kept = np.sort(np.argpartition(losses, count)[:count])
    return options[kept], float(losses[kept].max() + relaxation.rounding)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Found:
    """The best selection of the options looked at, and what it loses against the bound."""

    chosen: Integers  # of each job: index into all options
    loss: float
    loss_with_one_more: float  # of the best selection for a pool with one GPU more


def _finish(problem: Problem, relaxation: Relaxation, table: Table) -> _Found | None:
    """Count the pool's unused GPUs as losses too; fewest GPUs among equals."""
    price, window = relaxation.multipliers[POOL], table.window
    unused = problem.gpus - relaxation.totals[POOL] - window.deviations
    losses = window.losses + price * unused
    least = losses[unused >= 0].min(initial=np.inf)
    if not np.isfinite(least):
        return None
    used = int(np.argmax(losses <= least + relaxation.rounding))
    chosen = relaxation.base.copy()
    table.choose(int(window.deviations[used]), chosen)
    return _Found(
        chosen=chosen,
        loss=float(least),
        loss_with_one_more=float((losses + price).min()),
    )


def _solution(problem: Problem, relaxation: Relaxation, found: _Found) -> Solution:
    value = fsum(problem.values[found.chosen])
    bound = relaxation.bound - found.loss
    price = float(relaxation.multipliers[POOL]) + found.loss - found.loss_with_one_more
    return Solution(
        chosen=found.chosen - problem.starts[:-1],
        value=value,
        upper_bound=max(bound, value),
        gap=_without_rounding(bound - value, relaxation.rounding * (problem.jobs + 1)),
        price=_without_rounding(price, relaxation.rounding),
        gpus_used=int(problem.sizes[found.chosen].sum()),
    )


def _without_rounding(amount: float, rounding: float) -> float:
    return amount if amount > rounding else 0.0
