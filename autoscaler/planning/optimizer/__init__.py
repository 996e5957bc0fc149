"""Which split of a pool's GPUs among the admitted jobs is worth most?

A multiple-choice knapsack: every job takes exactly one of its options (GPUs, value), all together
at most the pool's GPUs, every team between its bounds. `solve(Problem.of(claims, ...))` is exact.

solver      the way from a problem to its solution
problem     what is to be solved; `solution`: what came of it
concave     which options lie on the upper concave hull of a job's curve
prices      at which price per GPU each group asks for what it may have
relaxation  what each job would choose at its group's price, and what other choices lose
candidates  which options are worth looking at
window      the least loss for each number of GPUs near the base
recurrence  which selection of a few options in doubt loses least: exact
"""

from autoscaler.planning.optimizer.problem import AllocationProblem, Bounds, SizeChoice
from autoscaler.planning.optimizer.solution import Solution
from autoscaler.planning.optimizer.solver import solve

__all__ = ["AllocationProblem", "Bounds", "SizeChoice", "Solution", "solve"]
