"""Random instances of every kind that has ever broken a knapsack solver."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from autoscaler.planning.optimizer import AllocationProblem
from autoscaler.planning.optimizer.problem import UNBOUNDED

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator


def any_problem(rng: Generator, *, jobs: int, sizes: int, gpus: int) -> AllocationProblem:
    """At most so many jobs, sizes and GPUs; any kind of curve, in any tree of teams."""
    count = int(rng.integers(0, jobs + 1))
    shape = SHAPES[rng.integers(len(SHAPES))]
    curves = [_curve(rng, shape, sizes) for _ in range(count)]
    if curves and rng.random() < 0.2:  # many alike
        curves = [curves[i] for i in rng.integers(0, min(2, count), count)]
    parents, least, most = _tree(rng, gpus)
    return AllocationProblem(
        sizes=np.concatenate([np.zeros(0, dtype=int), *(own for own, _ in curves)]),
        values=np.concatenate([np.zeros(0), *(values for _, values in curves)]),
        starts=np.cumsum([0, *(len(own) for own, _ in curves)]),
        groups=rng.integers(0, len(parents), count),
        parents=parents,
        least=least,
        most=most,
    )


def _curve(
    rng: Generator, shape: Callable[[Generator, np.ndarray], np.ndarray], most: int
) -> tuple[np.ndarray, np.ndarray]:
    kind = rng.integers(4)
    if kind == 0:  # a range from a minimum, above 1 as a rule
        first = int(rng.integers(0, most))
        sizes = np.arange(first, int(rng.integers(first, most)) + 1)
    elif kind == 1:  # whole nodes
        sizes = np.arange(1, 4) * int(rng.integers(1, max(most // 3, 2)))
    elif kind == 2:  # holes anywhere
        sizes = np.sort(rng.choice(most + 1, int(rng.integers(1, most + 1)), replace=False))
    else:  # the same size more than once, or one that never fits
        sizes = np.sort(rng.integers(0, 2 * most, int(rng.integers(1, most + 1))))
    return sizes, shape(rng, sizes).astype(float)


def _concave(rng: Generator, sizes: np.ndarray) -> np.ndarray:
    return np.asarray(rng.uniform(0.1, 3) * np.log1p(sizes))


def _dipping(rng: Generator, sizes: np.ndarray) -> np.ndarray:
    """Rising within a node, falling where it is left, as measured curves do."""
    node = int(rng.integers(2, 5))
    return np.asarray(sizes * rng.uniform(0.5, 1.5) - (sizes > node) * rng.uniform(0, 3))


def _any(rng: Generator, sizes: np.ndarray) -> np.ndarray:
    return rng.uniform(-5, 5, len(sizes))


def _tied(rng: Generator, sizes: np.ndarray) -> np.ndarray:
    return rng.integers(-2, 3, len(sizes))


def _worthless(rng: Generator, sizes: np.ndarray) -> np.ndarray:
    return np.zeros(len(sizes))


def _subset_sum(rng: Generator, sizes: np.ndarray) -> np.ndarray:
    return sizes


def _strongly_correlated(rng: Generator, sizes: np.ndarray) -> np.ndarray:
    return sizes + rng.integers(-1, 2, len(sizes))


def _of_all_magnitudes(rng: Generator, sizes: np.ndarray) -> np.ndarray:
    return np.asarray(sizes * 10.0 ** rng.integers(-6, 6))


SHAPES = (
    _concave,
    _dipping,
    _any,
    _tied,
    _worthless,
    _subset_sum,
    _strongly_correlated,
    _of_all_magnitudes,
)


def _tree(rng: Generator, gpus: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The pool and up to four teams, each below the pool or below an earlier team."""
    groups = 1 + int(rng.integers(0, 5))
    parents = np.array([-1, *(rng.integers(0, group) for group in range(1, groups))])
    least = np.where(rng.random(groups) < 0.3, rng.integers(0, max(gpus // 4, 1), groups), 0)
    most = np.where(rng.random(groups) < 0.6, least + rng.integers(0, gpus, groups), UNBOUNDED)
    least[0], most[0] = 0, gpus
    return parents, least, most
