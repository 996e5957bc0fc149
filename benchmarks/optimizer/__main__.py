"""How fast is the exact optimizer? Run `python -m benchmarks.optimizer`; takes some minutes.

Measures it against the textbook (the dynamic program over jobs and GPUs, vectorised in numpy over
the GPUs) in the same run, turn by turn, on instances where every job may take 1 to 64 GPUs. Prints
medians of CPU time (both use one core, so that is what an idle machine takes) and the machine's
load, growth with jobs and with GPUs, and peak memory; writes the growth to
docs/images/optimizer-growth.svg.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any, Final, TypeVar

import matplotlib as mpl
import numpy as np

from autoscaler.planning.optimizer import AllocationProblem, solve
from autoscaler.planning.optimizer.problem import POOL
from benchmarks.optimizer.instances import (
    KINDS,
    SIZES,
    completion_time,
    pool_of,
    raw_throughput,
    with_teams,
)

if TYPE_CHECKING:
    from collections.abc import Callable

CLUSTERS: Final = ((1_000, 4_096), (10_000, 100_000))
GROWING_JOBS: Final = (10, 30, 100, 300, 1_000, 3_000, 10_000)  # on 4 GPUs each
GROWING_GPUS: Final = (1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536)  # of 1,000 jobs
TEXTBOOK_CELLS: Final = 600_000_000  # jobs x sizes x GPUs; beyond it takes minutes and gigabytes
TURNS: Final = 3
PICTURE: Final = Path(__file__).resolve().parents[2] / "docs" / "images" / "optimizer-growth.svg"

Result = TypeVar("Result")
Row = tuple[int, float, float | None]  # jobs or GPUs; ours and the textbook's milliseconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--memory",
        nargs=2,
        type=int,
        metavar=("JOBS", "GPUS"),
        help="only solve one instance, and print this process's peak memory",
    )
    if one := parser.parse_args().memory:
        print_memory(*one)
        return
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {TURNS} turns\n")
    compare_kinds()
    growth_with_jobs = grow("jobs", [(jobs, 4 * jobs, jobs) for jobs in GROWING_JOBS])
    growth_with_gpus = grow("GPUs", [(1_000, gpus, gpus) for gpus in GROWING_GPUS])
    draw(growth_with_jobs, growth_with_gpus)
    for jobs, gpus in CLUSTERS:
        command = (sys.executable, "-m", "benchmarks.optimizer", "--memory", str(jobs), str(gpus))
        subprocess.run(command, check=True)
    print(f"load average {os.getloadavg()[0]:.1f}")


def compare_kinds() -> None:
    print(
        f"{'curves':<20} {'teams':>5} {'jobs':>7} {'GPUs':>7} {'ours':>10} {'textbook':>10} ratio"
    )
    for jobs, gpus in CLUSTERS:
        for kind in KINDS:
            free = pool_of(kind(np.random.default_rng(jobs), jobs), gpus)
            for problem in (free, with_teams(free, np.random.default_rng(1))):
                ours, textbook = race(problem)
                teams = len(problem.parents) - 1
                print(
                    f"{kind.__name__:<20} {teams:>5} {jobs:>7} {gpus:>7} {ours:>7.1f} ms "
                    + against(ours, textbook),
                    flush=True,
                )
    print()


def grow(what: str, cases: list[tuple[int, int, int]]) -> list[Row]:
    print(f"{what:>7} {'ours':>10} {'textbook':>10} ratio   (completion_time, no teams)")
    rows = []
    for jobs, gpus, x in cases:
        ours, textbook = race(pool_of(completion_time(np.random.default_rng(x), jobs), gpus))
        print(f"{x:>7} {ours:>7.1f} ms " + against(ours, textbook), flush=True)
        rows.append((x, ours, textbook))
    print()
    return rows


def against(ours: float, textbook: float | None) -> str:
    if textbook is None:
        return f"{'not run':>10}"
    return f"{textbook:>7.0f} ms {textbook / ours:>4.0f}x"


def race(problem: AllocationProblem) -> tuple[float, float | None]:
    """Median milliseconds of both, turn by turn; the values must agree."""
    cells = problem.jobs * len(SIZES) * problem.gpus
    ours, textbook = [], []
    for _ in range(TURNS):
        solution, took = timed(lambda: solve(problem))
        assert solution is not None
        assert solution.gap == 0
        ours.append(took)
        if cells <= TEXTBOOK_CELLS:
            (value, _), took = timed(lambda: textbook_solve(problem))
            assert np.isclose(value, solution.value, rtol=1e-12, atol=0)
            textbook.append(took)
    return median(ours), median(textbook) if textbook else None


def timed(run: Callable[[], Result]) -> tuple[Result, float]:
    started = process_time()
    result = run()
    return result, 1000 * (process_time() - started)


def textbook_solve(problem: AllocationProblem) -> tuple[float, np.ndarray]:
    """P(j, k) = max over g of v_j(g) + P(j-1, k-g), each g for all k at once, and the way back."""
    values, steps = textbook_group(problem, POOL, problem.gpus + 1)
    chosen = np.zeros(problem.jobs, dtype=np.int64)
    textbook_trace(steps, int(values.argmax()), chosen)
    return float(values.max()), chosen


def textbook_group(
    problem: AllocationProblem, group: int, width: int
) -> tuple[np.ndarray, list[Any]]:
    values = np.full(width, -np.inf)
    steps: list[Any] = []
    values[0] = 0.0
    for job in np.flatnonzero(problem.groups == group):
        own = slice(problem.starts[job], problem.starts[job + 1])
        sizes = problem.sizes[own]
        values, picks = textbook_step(values, sizes, problem.values[own])
        steps.append((int(job), sizes, picks))
    for below in np.flatnonzero(problem.parents == group):
        inner, inner_steps = textbook_group(problem, int(below), width)
        sizes = np.flatnonzero(np.isfinite(inner))
        within = (sizes >= problem.least[below]) & (sizes <= problem.most[below])
        values, picks = textbook_step(values, sizes[within], inner[sizes[within]])
        steps.append((inner_steps, sizes[within], picks))
    return values, steps


def textbook_step(
    values: np.ndarray, sizes: np.ndarray, worth: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    best = np.full_like(values, -np.inf)
    picks = np.zeros(len(values), dtype=np.int16)
    for option, (size, value) in enumerate(zip(sizes.tolist(), worth.tolist(), strict=True)):
        if size < len(values):
            candidate = values[: len(values) - size] + value
            is_better = candidate > best[size:]
            np.copyto(best[size:], candidate, where=is_better)
            np.copyto(picks[size:], option, where=is_better)
    return best, picks


def textbook_trace(steps: list[Any], left: int, chosen: np.ndarray) -> None:
    for member, sizes, picks in reversed(steps):
        pick = picks[left]
        if isinstance(member, list):
            textbook_trace(member, int(sizes[pick]), chosen)
        else:
            chosen[member] = pick
        left -= int(sizes[pick])


def print_memory(jobs: int, gpus: int) -> None:
    """Print what this process held before, and the most that it ever held."""
    problem = pool_of(raw_throughput(np.random.default_rng(1), jobs), gpus)
    problem = with_teams(problem, np.random.default_rng(1))
    before = peak_mebibytes()
    solve(problem)
    after = peak_mebibytes()
    print(f"{jobs} jobs, {gpus} GPUs, 50 teams: peak {after:.0f} MiB, before {before:.0f} MiB")


def peak_mebibytes() -> float:
    """The peak of this program: Linux lets `getrusage` begin with what its parent once had."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) / 1024


def draw(jobs: list[Row], gpus: list[Row]) -> None:
    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "concertina"
    from matplotlib import pyplot as plt  # noqa: PLC0415 - after the choice of backend

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True)
    titles = ("jobs (4 GPUs each)", "GPUs (1,000 jobs)")
    for axis, rows, title in zip(axes, (jobs, gpus), titles, strict=True):
        xs, ours, textbook = zip(*rows, strict=True)
        axis.loglog(xs, ours, "o-", label="Concertina")
        known = [(x, time) for x, time in zip(xs, textbook, strict=True) if time is not None]
        axis.loglog(*zip(*known, strict=True), "s--", label="textbook dynamic program")
        axis.set_xlabel(title)
        axis.grid(visible=True, which="major", alpha=0.3)
    axes[0].set_ylabel("milliseconds of one core, median")
    axes[0].legend()
    figure.tight_layout()
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    main()
