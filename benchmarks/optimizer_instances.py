"""Pools full of jobs for the optimizer's benchmark: real curves, raw curves, and hostile ones.

The real curves are step-time models fitted to published measurements of six applications on nodes
of four GPUs (the artifact of *Pollux*, OSDI 2021):

    t_step = (t_comp^g + t_net^g)^(1/g)        t_comp = a_c + b_c * m     m: samples per GPU
    t_net  = 0 on one GPU, a_r + b_r * (k - 2) on one node, a_n + b_n * (k - 2) on several
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from autoscaler.planning.optimizer import Problem
from autoscaler.planning.optimizer.problem import POOL, UNBOUNDED

SIZES: Final = np.arange(1, 65)  # every job may take 1 to 64 GPUs
GPUS_PER_NODE: Final = 4
APPLICATIONS: Final = (  # a_c, b_c, a_n, b_n, a_r, b_r, g, samples per GPU, samples in all: at most
    (0.0103, 0.00078, 0.1306, 0.0027, 0.0408, 0.0047, 2.84, 1024, 4096),  # cifar10-resnet18
    (0.0629, 0.0045, 0.3090, 0.0066, 0.0021, 0.0512, 2.73, 200, 12800),  # imagenet-resnet50
    (0.2436, 0.0570, 1.3979, 0.0095, 0.0, 0.1311, 2.10, 12, 384),  # bert-squad
    (0.0532, 0.0334, 0.9225, 0.0090, 0.5035, 0.0843, 4.37, 80, 640),  # deepspeech2
    (0.1686, 0.0328, 0.8776, 0.0108, 0.0, 0.1547, 1.49, 8, 512),  # yolov3
    (0.0069, 8.4e-7, 0.0144, 0.0006, 0.0029, 0.0012, 1.00, 32768, 32768),  # ncf
)


def speedups(rng: np.random.Generator, jobs: int) -> np.ndarray:
    """Rates relative to one GPU, a row for each job: the six applications evenly mixed."""
    curves = np.array([_speedup(application) for application in APPLICATIONS])
    return curves[rng.integers(0, len(APPLICATIONS), jobs)]


def _speedup(application: tuple[float, ...]) -> np.ndarray:
    a_c, b_c, a_n, b_n, a_r, b_r, g, per_gpu, total = application
    m = np.minimum(per_gpu, np.maximum(total // SIZES, 1))
    further = np.maximum(SIZES - 2, 0)
    net = np.where(SIZES <= GPUS_PER_NODE, a_r + b_r * further, a_n + b_n * further)
    net[SIZES == 1] = 0.0
    rate = SIZES * m / ((a_c + b_c * m) ** g + net**g) ** (1 / g)
    return np.asarray(rate / rate[0])


def completion_time(rng: np.random.Generator, jobs: int) -> np.ndarray:
    """The default policy: (2 rank - 1) * log(speedup)."""
    return (2 * rng.permutation(jobs) + 1.0)[:, None] * np.log(speedups(rng, jobs))


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
    return SIZES + rng.integers(0, 3, (jobs, len(SIZES))).astype(float)


KINDS: Final = (
    completion_time,
    raw_throughput,
    identical_curves,
    random_values,
    strongly_correlated,
)


def pool_of(values: np.ndarray, gpus: int) -> Problem:
    jobs, options = values.shape
    return Problem(
        sizes=np.tile(SIZES, jobs),
        values=values.ravel(),
        starts=np.arange(0, jobs * options + 1, options),
        groups=np.zeros(jobs, dtype=np.int64),
        parents=np.array([-1]),
        least=np.array([0]),
        most=np.array([gpus]),
    )


def with_teams(problem: Problem, rng: np.random.Generator, teams: int = 50) -> Problem:
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
