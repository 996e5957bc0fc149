"""Which split of a pool's GPUs among the admitted jobs is worth most?

A multiple-choice knapsack: every job takes exactly one of its options (GPUs, value), all together
at most the pool's GPUs, every team between its bounds. `solve(Problem.of(claims, ...))` is exact.
"""

from autoscaler.planning.optimizer.problem import Bounds, Claim, Problem
from autoscaler.planning.optimizer.solution import Solution
from autoscaler.planning.optimizer.solver import solve

__all__ = ["Bounds", "Claim", "Problem", "Solution", "solve"]
