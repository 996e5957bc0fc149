"""Which options of each job lie on the upper concave hull of its curve?

Only those can be best at a price per GPU: `value - price * gpus` is largest at a corner of the
hull, and moves to the next corner when the price falls below the slope of the edge between the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from autoscaler.planning.optimizer.problem import AllocationProblem, Booleans, Floats, Integers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hulls:
    """The hulls of all jobs: corners in their order, and the edges between neighbours of a job."""

    corners: Integers  # index of the option
    first: Integers  # of each job: where its corners begin
    jobs: Integers  # of each edge
    slopes: Floats  # of each edge: value per GPU, falling within a job
    lengths: Integers  # of each edge: GPUs


def hulls(problem: AllocationProblem) -> Hulls:
    """Sweep by sweep, drop every option on or below the chord of its neighbours.

    Such an option is no corner whether or not its neighbours are, so all go at once. Only those
    that got a new neighbour need another look.
    """
    job_of = np.repeat(np.arange(problem.jobs), np.diff(problem.starts))
    corners = _best_of_each_size(problem, job_of)
    suspects = np.arange(1, len(corners) - 1)
    while len(suspects):
        gone = suspects[_on_or_below_the_chord(problem, job_of, corners, suspects)]
        is_kept, is_new_neighbour = np.ones((2, len(corners)), dtype=bool)
        is_new_neighbour[:] = False
        is_kept[gone] = False
        is_new_neighbour[gone - 1] = is_new_neighbour[gone + 1] = True
        corners = corners[is_kept]
        suspects = np.flatnonzero(is_new_neighbour[is_kept])
        suspects = suspects[(suspects > 0) & (suspects < len(corners) - 1)]
    jobs = job_of[corners]
    is_edge = jobs[1:] == jobs[:-1]
    lengths = np.diff(problem.sizes[corners])[is_edge]
    return Hulls(
        corners=corners,
        first=np.searchsorted(jobs, np.arange(problem.jobs)),
        jobs=jobs[1:][is_edge],
        slopes=np.diff(problem.values[corners])[is_edge] / lengths,
        lengths=lengths,
    )


def _best_of_each_size(problem: AllocationProblem, job_of: Integers) -> Integers:
    """Keep the most valuable option of each size; the first among equals."""
    options = np.arange(len(problem.sizes))
    is_same = (np.diff(problem.sizes) == 0) & (np.diff(job_of) == 0)
    if not is_same.any():
        return options
    size_of = np.concatenate(([0], np.cumsum(~is_same)))
    by_worth = np.lexsort((options, -problem.values, size_of))
    return by_worth[np.concatenate(([True], np.diff(size_of[by_worth]) > 0))]


def _on_or_below_the_chord(
    problem: AllocationProblem, job_of: Integers, corners: Integers, suspects: Integers
) -> Booleans:
    left, here, right = corners[suspects - 1], corners[suspects], corners[suspects + 1]
    sizes, values = problem.sizes, problem.values
    before = (values[here] - values[left]) * (sizes[right] - sizes[here])
    after = (values[right] - values[here]) * (sizes[here] - sizes[left])
    return np.asarray((job_of[left] == job_of[right]) & (before <= after))
