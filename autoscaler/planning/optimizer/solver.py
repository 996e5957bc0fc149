"""From the bound to the optimum: how many options have to be looked at?

The best selection loses least against the bound (see `relaxation`). Take the options that lose
least, a few at first, and find the best selection among them (see `recurrence`). Any selection with
another option loses at least as much as the cheapest option left out: if the one found loses no
more than that, it is the optimum. If not, look at more (see `candidates`); after some attempts at
all there are, which is the last: its cost is bounded by options times GPUs.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Final

import numpy as np

from autoscaler.planning.optimizer.candidates import Candidates
from autoscaler.planning.optimizer.problem import POOL
from autoscaler.planning.optimizer.recurrence import doubts, least_losses
from autoscaler.planning.optimizer.relaxation import relax
from autoscaler.planning.optimizer.solution import Solution

if TYPE_CHECKING:
    from autoscaler.planning.optimizer.problem import AllocationProblem, Integers
    from autoscaler.planning.optimizer.recurrence import Table
    from autoscaler.planning.optimizer.relaxation import Relaxation

MOST_ATTEMPTS: Final = 12  # guessed: a market has as many candidates as options after ten at most


def solve(problem: AllocationProblem, *, most_attempts: int = MOST_ATTEMPTS) -> Solution | None:
    """An optimal split, or None when the claims cannot all be met. Fewest GPUs among equals."""
    relaxation = relax(problem)
    if relaxation is None:
        return None
    candidates = Candidates(problem, relaxation)
    wanted = _loss_of_base(problem, relaxation)
    for attempts_left in range(most_attempts - 1, -1, -1):
        if not attempts_left:
            wanted = np.inf
            candidates.take_all()
        options, left_out = candidates.chosen(wanted)
        table = least_losses(problem, relaxation, doubts(problem, relaxation, options), left_out)
        found = _finish(problem, relaxation, table)
        loss = max(found.loss, found.loss_with_one_more) if found else np.inf
        if loss <= table.limit:
            return _solution(problem, relaxation, found) if found else None
        wanted = min(wanted, loss + relaxation.rounding)
        candidates.widen(table, wanted)
    raise AssertionError("no option was left out, and yet another might have been better")


def _loss_of_base(problem: AllocationProblem, relaxation: Relaxation) -> float:
    """Return the loss, in unused GPUs, if nobody deviates; infinite if that breaks a bound."""
    totals, multipliers = relaxation.totals, relaxation.multipliers
    if (totals > problem.most).any() or (totals < problem.least).any():
        return np.inf
    slack = np.abs(multipliers * (relaxation.targets - totals))[multipliers != 0].sum()
    return float(slack + multipliers[POOL] + relaxation.rounding)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _BestSelection:
    """The best selection of the options looked at, and what it loses against the bound."""

    chosen: Integers  # of each job: index into all options
    loss: float
    loss_with_one_more: float  # of the best selection for a pool with one GPU more


def _finish(
    problem: AllocationProblem, relaxation: Relaxation, table: Table
) -> _BestSelection | None:
    """Count the pool's unused GPUs as losses too; fewest GPUs among equals."""
    price, window = relaxation.multipliers[POOL], table.window
    if window is None:
        return None
    unused = problem.gpus - relaxation.totals[POOL] - window.deviations
    losses = window.losses + price * unused
    least = losses[unused >= 0].min(initial=np.inf)
    if not np.isfinite(least):
        return None
    used = int(np.argmax(losses <= least + relaxation.rounding))
    chosen = relaxation.base.copy()
    table.choose(int(window.deviations[used]), chosen)
    return _BestSelection(
        chosen=chosen,
        loss=float(least),
        loss_with_one_more=float((losses + price).min()),
    )


def _solution(
    problem: AllocationProblem, relaxation: Relaxation, found: _BestSelection
) -> Solution:
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
