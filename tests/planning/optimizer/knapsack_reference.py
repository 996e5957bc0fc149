"""The optimum by the founding paper's dynamic program, as plainly as it can be written.

P(j, k) is the best value of the first j jobs with exactly k GPUs; a group is solved over its own
jobs, then joined with its sub-groups, then cut to its bounds. No tricks: the tests trust it.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from autoscaler.planning.optimizer.problem import POOL

if TYPE_CHECKING:
    from autoscaler.planning.optimizer import AllocationProblem

IMPOSSIBLE = -np.inf


def best_values(problem: AllocationProblem, most_gpus: int) -> np.ndarray:
    """The best value of a pool of 0, 1, ... `most_gpus` GPUs; -inf where there is no split."""
    exact = _group_values(problem, POOL, most_gpus)
    return np.maximum.accumulate(exact)  # GPUs may stay idle


def _group_values(problem: AllocationProblem, group: int, most_gpus: int) -> np.ndarray:
    values = np.full(most_gpus + 1, IMPOSSIBLE)
    values[0] = 0.0
    for job in np.flatnonzero(problem.groups == group):
        options = range(problem.starts[job], problem.starts[job + 1])
        values = _with_choice(values, [(problem.sizes[o], problem.values[o]) for o in options])
    for below in np.flatnonzero(problem.parents == group):
        values = _with_choice(values, list(enumerate(_group_values(problem, below, most_gpus))))
    if group != POOL:
        values[: problem.least[group]] = IMPOSSIBLE
        values[problem.most[group] + 1 :] = IMPOSSIBLE
    return values


def _with_choice(values: np.ndarray, options: list[tuple[int, float]]) -> np.ndarray:
    best = np.full_like(values, IMPOSSIBLE)
    for gpus, value in options:
        if gpus < len(values):
            best[gpus:] = np.maximum(best[gpus:], values[: len(values) - gpus] + value)
    return best


def best_value_by_trying_all(problem: AllocationProblem, gpus: int) -> float:
    """Every combination of options; for the smallest instances only."""
    jobs = [
        range(start, end) for start, end in zip(problem.starts, problem.starts[1:], strict=False)
    ]
    best = IMPOSSIBLE
    for chosen in itertools.product(*jobs):
        if _is_within(problem, chosen, gpus):
            best = max(best, sum(problem.values[list(chosen)]))
    return best


def _is_within(problem: AllocationProblem, chosen: tuple[int, ...], gpus: int) -> bool:
    totals = totals_of(problem, chosen)
    most = np.where(np.arange(len(totals)) == POOL, gpus, problem.most)
    return bool((problem.least <= totals).all() and (totals <= most).all())


def totals_of(problem: AllocationProblem, chosen: tuple[int, ...] | np.ndarray) -> np.ndarray:
    """GPUs of each group, sub-groups included; `chosen` holds an index into all options per job."""
    totals = np.zeros(len(problem.parents), dtype=int)
    for job, option in enumerate(chosen):
        group = problem.groups[job]
        while group != -1:
            totals[group] += problem.sizes[option]
            group = problem.parents[group]
    return totals
