"""At which price per GPU does each group ask for what it may have?

The linear relaxation, solved exactly. Let every group buy the edges of its jobs' hulls, steepest
first: the slope of the edge at `most` GPUs is the price below which it would buy too much, that of
the edge at `least` the price above which it would buy too little. Between the two a group pays
what its parent pays; the pool pays nothing unless its GPUs are scarce.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from autoscaler.planning.optimizer.problem import POOL

if TYPE_CHECKING:
    from autoscaler.planning.optimizer.concave import Hulls
    from autoscaler.planning.optimizer.problem import AllocationProblem, Booleans, Floats, Integers


@dataclass(slots=True, kw_only=True, eq=False)
class _Market:
    """The edges not yet decided, steepest first, and who buys them; merged level by level."""

    slopes: Floats
    lengths: Integers  # what is left of each edge between the bounds of the groups below
    groups: Integers  # the buyer of each edge
    floor: Integers  # of each group: GPUs it takes at any price
    lowest: Floats  # of each group: the price below which it would exceed `most`
    highest: Floats  # of each group: the price above which it would miss `least`


def group_prices(problem: AllocationProblem, hulls: Hulls) -> Floats | None:
    """The price each group pays, or None when even fractions of options cannot meet the bounds."""
    market = _open_market(problem, hulls)
    depth = _depth(problem.parents)
    for level in range(int(depth.max()), -1, -1):
        if not _settle(problem, market, depth == level):
            return None
    prices = np.zeros(len(depth))
    for group, above in enumerate(problem.parents):
        price = prices[above] if group != POOL else 0.0
        prices[group] = min(max(price, market.lowest[group]), market.highest[group])
    return prices


def _open_market(problem: AllocationProblem, hulls: Hulls) -> _Market:
    smallest = problem.sizes[hulls.corners[hulls.first]]
    steepest = np.argsort(-hulls.slopes, kind="stable")
    count = len(problem.parents)
    return _Market(
        slopes=hulls.slopes[steepest],
        lengths=hulls.lengths[steepest],
        groups=problem.groups[hulls.jobs[steepest]],
        floor=np.bincount(problem.groups, weights=smallest, minlength=count).astype(np.int64),
        lowest=np.full(count, -np.inf),
        highest=np.full(count, np.inf),
    )


def _depth(parents: Integers) -> Integers:
    depth = np.zeros(len(parents), dtype=np.int64)
    for group in range(1, len(parents)):
        depth[group] = depth[parents[group]] + 1
    return depth


def _settle(problem: AllocationProblem, market: _Market, is_here: Booleans) -> bool:
    """Cut what the groups of one level buy to their bounds and hand it to their parents."""
    here = np.flatnonzero(is_here)
    edges = np.flatnonzero(is_here[market.groups] & (market.lengths > 0))
    edges = edges[
        np.argsort(market.groups[edges].astype(np.min_scalar_type(len(is_here))), kind="stable")
    ]
    owner, length, slope = market.groups[edges], market.lengths[edges], market.slopes[edges]
    total = np.bincount(owner, weights=length, minlength=len(is_here)).astype(np.int64)
    least, most = problem.least, problem.most
    if (market.floor > most)[here].any() or (market.floor + total < least)[here].any():
        return False

    bought = np.cumsum(length)
    bought += (market.floor - (np.cumsum(total) - total))[owner]
    too_much, too_little = bought > most[owner], bought - length < least[owner]
    np.maximum.at(market.lowest, owner[too_much], slope[too_much])
    np.minimum.at(market.highest, owner[too_little], slope[too_little])
    bounds = least[owner], most[owner]
    market.lengths[edges] = np.clip(bought, *bounds) - np.clip(bought - length, *bounds)
    market.groups[edges] = np.maximum(problem.parents[owner], POOL)

    inner = here[here != POOL]
    np.add.at(market.floor, problem.parents[inner], np.maximum(market.floor, least)[inner])
    return True
