"""Which options of each job lie on the upper concave hull of its curve?

Only those can be best at a price per GPU: `value - price * gpus` is largest at a corner of the
hull, and moves to the next corner when the price falls below the slope of the edge between the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from autoscaler.planning.optimizer.problem import Floats, Integers, Problem


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hulls:
    """The hulls of all jobs: corners in their order, and the edges between neighbours of a job."""

    corners: Integers  # index of the option
    first: Integers  # of each job: where its corners begin
    jobs: Integers  # of each edge
    slopes: Floats  # of each edge: value per GPU, falling within a job
    lengths: Integers  # of each edge: GPUs


def hulls(problem: Problem) -> Hulls:
    """Sweep by sweep, drop every option on or below the chord of its neighbours.

    Such an option is no corner whether or not its neighbours are, so all go at once. Two or three
    sweeps suffice for curves with a few dents; a curve of n options never needs more than n.
    """
    job_of = np.repeat(np.arange(problem.jobs), np.diff(problem.starts))
    corners = _best_of_each_size(problem, job_of)
    while True:
        is_below = _on_or_below_the_chord(problem, job_of, corners)
        if not is_below.any():
            break
        corners = corners[~is_below]
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


def _best_of_each_size(problem: Problem, job_of: Integers) -> Integers:
    """Of options of the same size the most valuable; the first among equals."""
    options = np.arange(len(problem.sizes))
    is_same = (np.diff(problem.sizes) == 0) & (np.diff(job_of) == 0)
    if not is_same.any():
        return options
    size_of = np.concatenate(([0], np.cumsum(~is_same)))
    by_worth = np.lexsort((options, -problem.values, size_of))
    return by_worth[np.concatenate(([True], np.diff(size_of[by_worth]) > 0))]


def _on_or_below_the_chord(
    problem: Problem, job_of: Integers, corners: Integers
) -> NDArray[np.bool_]:
    sizes, values, jobs = problem.sizes[corners], problem.values[corners], job_of[corners]
    run, rise = np.diff(sizes), np.diff(values)
    is_below = np.zeros(len(corners), dtype=bool)
    is_below[1:-1] = (jobs[2:] == jobs[:-2]) & (rise[:-1] * run[1:] <= rise[1:] * run[:-1])
    return is_below
