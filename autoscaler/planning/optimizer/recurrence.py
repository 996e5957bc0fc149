"""The best value for every exact number of GPUs, by the recurrence of the founding paper.

*Effective Elastic Scaling of Deep Learning Workloads*:

    P(j, k) = max over the options (g, v) of job j of  v + P(j-1, k-g)        -inf: impossible

once per group, over its jobs and sub-groups, where "g GPUs for this sub-group" is an option like
any other. Groups form a tree, so the result is exact with the bounds inside the optimisation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from autoscaler.planning.optimizer.problem import POOL, Problem
from autoscaler.planning.optimizer.solution import Solution

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autoscaler.planning.optimizer.problem import Floats, Integers


def solve(problem: Problem) -> Solution | None:
    """An optimal split, or None when the claims cannot all be met."""
    gpus = problem.gpus
    width = gpus + 2  # one GPU more than there is: its value is the price
    curve = _group_curve(problem, POOL, width)
    best = np.full(width, -np.inf)
    best[curve.sizes] = curve.values
    if not np.isfinite(best[: gpus + 1]).any():
        return None
    used = int(np.argmax(best[: gpus + 1]))  # the fewest GPUs among equals
    chosen = np.zeros(problem.jobs, dtype=np.int64)
    _trace(problem, curve, used, chosen)
    value = float(problem.values[problem.starts[:-1] + chosen].sum())
    bound = float(best[used])
    return Solution(
        chosen=chosen,
        value=value,
        upper_bound=max(bound, value),
        gap=_without_rounding(max(bound - value, 0.0), bound),
        price=max(float(best.max()) - bound, 0.0),
        gpus_used=used,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Curve:
    """A group as one job: what it may take within its bounds, and how its members share it."""

    sizes: Integers
    values: Floats
    jobs: Sequence[int]
    groups: Sequence[_Curve]
    picks: Sequence[Integers]  # of the jobs, then of the groups, by the total so far


def _group_curve(problem: Problem, group: int, width: int) -> _Curve:
    jobs = np.flatnonzero(problem.groups == group).tolist()
    groups = [
        _group_curve(problem, int(below), width)
        for below in np.flatnonzero(problem.parents == group)
    ]
    best, picks = np.full(width, -np.inf), []
    best[0] = 0.0
    for sizes, values in [
        *(_options(problem, job) for job in jobs),
        *((below.sizes, below.values) for below in groups),
    ]:
        rows = np.full((max(len(sizes), 1), width), -np.inf)
        for row, size, value in zip(rows, sizes, values, strict=False):
            if size < width:
                row[size:] = best[: width - size] + value
        picks.append(rows.argmax(axis=0))
        best = rows.max(axis=0)
    most = problem.most[group] + (group == POOL)
    totals = np.flatnonzero(np.isfinite(best))
    totals = totals[(totals >= problem.least[group]) & (totals <= most)]
    return _Curve(sizes=totals, values=best[totals], jobs=jobs, groups=groups, picks=picks)


def _options(problem: Problem, job: int) -> tuple[Integers, Floats]:
    own = slice(problem.starts[job], problem.starts[job + 1])
    return problem.sizes[own], problem.values[own]


def _trace(problem: Problem, curve: _Curve, left: int, chosen: Integers) -> None:
    """Walk the recurrence backwards from the optimum."""
    picks = list(curve.picks)
    for below in reversed(curve.groups):
        share = int(below.sizes[picks.pop()[left]])
        _trace(problem, below, share, chosen)
        left -= share
    for job in reversed(curve.jobs):
        chosen[job] = picks.pop()[left]
        left -= int(_options(problem, job)[0][chosen[job]])


def _without_rounding(gap: float, scale: float) -> float:
    return 0.0 if gap <= 1e-9 * max(abs(scale), 1.0) else gap
