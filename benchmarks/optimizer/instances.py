"""Pools full of jobs for the optimizer's benchmark: real curves, raw curves, and hostile ones.

The real curves are those of the simulator's six measured applications, on nodes of four GPUs with
as many samples per GPU as fit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from autoscaler.planning.optimizer import AllocationProblem
from autoscaler.planning.optimizer.problem import POOL, UNBOUNDED
from autoscaler.planning.speed.throughput import Configurations
from autoscaler.simulation.engine.truth.profiles import Profile
from autoscaler.simulation.engine.workload.applications import APPLICATIONS

SIZES: Final = np.arange(1, 65)  # every job may take 1 to 64 GPUs
GPUS_PER_NODE: Final = 4


def speedups(rng: np.random.Generator, jobs: int) -> np.ndarray:
    """Rates relative to one GPU, a row for each job: the six applications evenly mixed."""
    curves: np.ndarray = np.array([_speedup(profile) for profile in APPLICATIONS])
    return np.asarray(curves[rng.integers(0, len(APPLICATIONS), jobs)])


def _speedup(profile: Profile) -> np.ndarray:
    most = profile.batch.max_per_gpu or profile.batch.maximum
    batches = SIZES * np.minimum(most, np.maximum(profile.batch.maximum // SIZES, 1))
    at = Configurations.of(workers=SIZES, crosses_nodes=SIZES > GPUS_PER_NODE, global_batch=batches)
    rate = batches / profile.model.step_seconds(at)
    return np.asarray(rate / rate[0])


def completion_time(rng: np.random.Generator, jobs: int) -> np.ndarray:
    """The default policy: (2 rank - 1) * log(speedup)."""
    return np.asarray((2 * rng.permutation(jobs) + 1.0)[:, None] * np.log(speedups(rng, jobs)))


def raw_throughput(rng: np.random.Generator, jobs: int) -> np.ndarray:
    """Speedups as measured, with 7 % noise: neither concave nor rising."""
    return speedups(rng, jobs) * np.exp(rng.normal(0, 0.07, (jobs, len(SIZES))))


def identical_curves(rng: np.random.Generator, jobs: int) -> np.ndarray:
    """Speedups without noise: thousands of jobs of only six kinds, ties everywhere."""
    return speedups(rng, jobs)


def random_values(rng: np.random.Generator, jobs: int) -> np.ndarray:
    """No structure at all."""
    return rng.uniform(0, 1, (jobs, len(SIZES)))


def strongly_correlated(rng: np.random.Generator, jobs: int) -> np.ndarray:
    """Every GPU is worth the same wherever it goes, but for a bonus here and there."""
    return np.asarray(SIZES + rng.integers(0, 3, (jobs, len(SIZES))), dtype=float)


KINDS: Final = (
    completion_time,
    raw_throughput,
    identical_curves,
    random_values,
    strongly_correlated,
)


def pool_of(values: np.ndarray, gpus: int) -> AllocationProblem:
    jobs, options = values.shape
    return AllocationProblem(
        sizes=np.tile(SIZES, jobs),
        values=values.ravel(),
        starts=np.arange(0, jobs * options + 1, options),
        groups=np.zeros(jobs, dtype=np.int64),
        parents=np.array([-1]),
        least=np.array([0]),
        most=np.array([gpus]),
    )


def with_teams(
    problem: AllocationProblem, rng: np.random.Generator, teams: int = 50
) -> AllocationProblem:
    """Teams in two levels (seven departments above the rest), most of them at a bound."""
    departments = int(teams**0.5)
    above = np.full(departments, POOL)
    below = rng.integers(1, departments + 1, teams - departments)
    groups = rng.integers(departments + 1, teams + 1, problem.jobs)
    jobs = np.bincount(groups, minlength=teams + 1)
    share = jobs * problem.gpus / problem.jobs
    least = np.maximum((share * rng.uniform(0.3, 1.0, teams + 1)).astype(int), jobs)
    most = (share * rng.uniform(0.9, 1.6, teams + 1)).astype(int) + jobs + 1
    parents = np.concatenate(([-1], above, below))
    for department in range(1, departments + 1):
        inside = most[departments + 1 :][below == department].sum()
        least[department] = 0
        most[department] = UNBOUNDED if department % 2 else int(0.8 * inside) + 1
    least[POOL], most[POOL] = 0, problem.gpus
    return replace(problem, groups=groups, parents=parents, least=least, most=most)
