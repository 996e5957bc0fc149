"""Over 10,000 random instances the optimizer equals the textbook; see `knapsack_instances`.

The suite takes a sample of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from autoscaler.planning.optimizer import AllocationProblem, solve
from tests.campaigns import rounds
from tests.planning.optimizer.knapsack_instances import any_problem
from tests.planning.optimizer.knapsack_reference import (
    best_value_by_trying_all,
    best_values,
    totals_of,
)

if TYPE_CHECKING:
    from autoscaler.planning.optimizer import Solution


def check(problem: AllocationProblem, solution: Solution | None, best: np.ndarray) -> bool:
    """Whether there is a solution; `best` is the value of each pool up to one GPU more."""
    gpus = problem.gpus
    if solution is None:
        assert best[gpus] == -np.inf
        return False
    largest = max(1.0, float(np.abs(problem.values).max(initial=0.0)))
    rounding = 1e-13 * largest
    assert solution.value == pytest.approx(best[gpus], abs=rounding)
    assert solution.price == pytest.approx(best[gpus + 1] - best[gpus], abs=2 * rounding)
    assert solution.gap == 0
    chosen = problem.starts[:-1] + solution.chosen
    assert (chosen < problem.starts[1:]).all()
    assert problem.values[chosen].sum() == pytest.approx(solution.value, abs=rounding)
    totals = totals_of(problem, chosen)
    assert (problem.least <= totals).all()
    assert (totals <= problem.most).all()
    fewest = int(np.flatnonzero(best >= best[gpus] - rounding)[0])
    assert solution.gpus_used == totals[0] == fewest
    return True


@pytest.mark.parametrize("seed", range(rounds(10)))
def test_small_instances_of_every_kind_equal_the_dynamic_program(seed: int) -> None:
    rng = np.random.default_rng(seed)
    solved = 0
    for _ in range(1000):
        gpus = int(rng.integers(1, 30))
        problem = any_problem(rng, jobs=8, sizes=8, gpus=gpus)
        solved += check(problem, solve(problem), best_values(problem, gpus + 1))
    assert 400 < solved < 900  # the instances reach both sides


@pytest.mark.parametrize("most_attempts", [1, 2])
def test_the_last_attempt_looks_at_all_options_and_is_exact(most_attempts: int) -> None:
    """So the search ends, whatever values somebody sends."""
    rng = np.random.default_rng(most_attempts)
    solved = 0
    for _ in range(300):
        problem = any_problem(rng, jobs=20, sizes=8, gpus=int(rng.integers(1, 60)))
        best = best_values(problem, problem.gpus + 1)
        solved += check(problem, solve(problem, most_attempts=most_attempts), best)
    assert 100 < solved < 300


@pytest.mark.parametrize("seed", range(5))
def test_larger_instances_of_every_kind_equal_the_dynamic_program(seed: int) -> None:
    """Large enough that the first options looked at do not suffice."""
    rng = np.random.default_rng(100 + seed)
    solved = 0
    for _ in range(50):
        gpus = int(rng.integers(50, 500))
        problem = any_problem(rng, jobs=60, sizes=16, gpus=gpus)
        solved += check(problem, solve(problem), best_values(problem, gpus + 1))
    assert solved > 20


def test_the_smallest_instances_equal_the_best_of_all_combinations() -> None:
    rng = np.random.default_rng(7)
    for _ in range(rounds(1000)):
        gpus = int(rng.integers(1, 14))
        problem = any_problem(rng, jobs=4, sizes=4, gpus=gpus)
        best = [best_value_by_trying_all(problem, pool) for pool in (gpus, gpus + 1)]
        solution = solve(problem)
        assert (solution is None) == (best[0] == -np.inf)
        if solution is not None:
            scale = 1e-12 * max(1.0, float(np.abs(problem.values).max(initial=0.0)))
            assert solution.value == pytest.approx(best[0], abs=scale)
            assert solution.price == pytest.approx(best[1] - best[0], abs=scale)


def test_the_order_of_the_jobs_does_not_matter_for_the_value() -> None:
    rng = np.random.default_rng(8)
    for _ in range(rounds(300)):
        problem = any_problem(rng, jobs=10, sizes=8, gpus=int(rng.integers(1, 40)))
        solution, turned = solve(problem), solve(_reordered(problem, rng))
        assert (solution is None) == (turned is None)
        if solution is not None and turned is not None:
            scale = 1e-13 * max(1.0, float(np.abs(problem.values).max(initial=0.0)))
            assert turned.value == pytest.approx(solution.value, abs=scale)
            assert turned.price == pytest.approx(solution.price, abs=scale)
            assert turned.gpus_used == solution.gpus_used


def _reordered(problem: AllocationProblem, rng: np.random.Generator) -> AllocationProblem:
    order = rng.permutation(problem.jobs)
    options = [np.arange(problem.starts[job], problem.starts[job + 1]) for job in order]
    index = np.concatenate([np.zeros(0, dtype=int), *options])
    return AllocationProblem(
        sizes=problem.sizes[index],
        values=problem.values[index],
        starts=np.cumsum([0, *(len(own) for own in options)]),
        groups=problem.groups[order],
        parents=problem.parents,
        least=problem.least,
        most=problem.most,
    )
