"""Which options are worth looking at? Those that lose least, of each market a number of its own.

A market is a group that pays a price of its own, with all groups below that pay the same. What one
market loses at its bound says nothing about another, so each has its own number of candidates, and
only those grow that need it: four times as many, or as many as could be part of the optimum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from autoscaler.planning.optimizer.problem import POOL

if TYPE_CHECKING:
    from autoscaler.planning.optimizer.problem import AllocationProblem, Floats, Integers
    from autoscaler.planning.optimizer.recurrence import Table
    from autoscaler.planning.optimizer.relaxation import Relaxation

FIRST_OPTIONS: Final = 16  # guessed: enough for most plans, and others soon have more
FIRST_OPTIONS_EACH: Final = 32  # guessed: the same for one market of many
GROWTH: Final = 4  # so that all attempts together cost little more than the last one


class Candidates:
    """The options looked at so far; grows with what the last attempt has shown."""

    def __init__(self, problem: AllocationProblem, relaxation: Relaxation) -> None:
        self._losses, self._rounding = relaxation.losses, relaxation.rounding
        self._market_of = _market_of(problem, relaxation)
        is_other = np.ones(len(problem.sizes), dtype=bool)
        is_other[relaxation.base] = False
        market = self._market_of[problem.groups][relaxation.jobs[is_other]]
        by_market = np.argsort(
            market.astype(np.min_scalar_type(len(self._market_of))), kind="stable"
        )
        ends = np.cumsum(np.bincount(market, minlength=len(self._market_of)))
        self._options = np.split(np.flatnonzero(is_other)[by_market], ends[:-1])
        first = FIRST_OPTIONS if (relaxation.multipliers[1:] == 0).all() else FIRST_OPTIONS_EACH
        self._counts = np.full(len(ends), first)
        self._left_out = np.full(len(ends), np.inf)  # of each market: the least loss of the others
        self._useful = np.full(len(ends), np.inf)  # of each market: what loses more is of no use

    def chosen(self, wanted: float) -> tuple[Integers, Floats]:
        """The options to look at, ascending, and for each group the least loss of all others."""
        self._useful[POOL] = min(self._useful[POOL], wanted)
        parts = []
        for market in np.unique(self._market_of):
            part, self._left_out[market] = self._least(market)
            parts.append(part)
        return np.sort(np.concatenate(parts)), self._left_out[self._market_of]

    def _least(self, market: int) -> tuple[Integers, float]:
        options, count, left_out = self._options[market], self._counts[market], np.inf
        losses = self._losses[options]
        if len(options) > count:
            order = np.argpartition(losses, count)
            left_out = float(losses[order[count]])
            options, losses = options[order[:count]], losses[order[:count]]
        is_useful = losses <= self._useful[market]
        if not is_useful.all():
            left_out = self._useful[market]
        return options[is_useful], left_out

    def widen(self, table: Table, wanted: float) -> None:
        """Let those markets grow whose candidates do not yet prove that nothing beats `wanted`."""
        if table.window is None:
            short = {self._market_of[group]: np.inf for group in _groups_to_blame(table)}
        else:
            short = self._short(table, wanted)
        for market, useful in short.items():
            self._counts[market] *= GROWTH
            self._useful[market] = useful + self._rounding

    def take_all(self) -> None:
        """Leave no option out."""
        self._counts[:] = [len(options) for options in self._options]
        self._useful[:] = np.inf

    def _short(self, table: Table, wanted: float) -> dict[int, float]:
        """The markets short of candidates, and up to which loss they could be of use.

        Of what may be lost in all, the other groups lose at least their floors.
        """
        floor = sum(below.floor for below in table.tables)
        market, own = int(self._market_of[table.group]), wanted - floor
        short = {market: own} if self._left_out[market] < own else {}
        for below in table.tables:
            for other, useful in self._short(below, own + below.floor).items():
                short[other] = max(useful, short.get(other, 0.0))
        return short


def _market_of(problem: AllocationProblem, relaxation: Relaxation) -> Integers:
    market_of = np.arange(len(problem.parents))
    for group in range(POOL + 1, len(market_of)):
        if relaxation.multipliers[group] == 0:
            market_of[group] = market_of[problem.parents[group]]
    return market_of


def _groups_to_blame(table: Table) -> list[int]:
    """Return the groups with no selection though all below have one, and all groups below."""
    failed = [below for below in table.tables if below.window is None]
    if not failed:
        return _groups(table)
    return [group for below in failed for group in _groups_to_blame(below)]


def _groups(table: Table) -> list[int]:
    return [table.group, *(group for below in table.tables for group in _groups(below))]
