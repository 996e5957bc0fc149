"""How well is a job's speed predicted, and how long does that take?

Run `python benchmarks/throughput_fit.py`. For each of six measured applications: a job is measured
with 7 % noise where the planner's exploration leads it, and its throughput is predicted everywhere
else. Printed by number of points: the median relative error over 12 explorations; for six points
also with the model's size known and with the pool's all-reduce table, the 90th percentile, how
often the truth lies within one and two of the standard deviations claimed, and the time of a fit.
"""

from __future__ import annotations

from functools import cache
from statistics import median
from time import process_time

import numpy as np

from autoscaler.planning.fitting import fitting
from autoscaler.planning.snapshot.cluster_state import StepTime
from autoscaler.planning.speed.all_reduce import AllReduceTable, AllReduceTime
from autoscaler.simulation.engine.truth.profiles import Profile
from tests.planning.speed.explorations import SIX, at, explored, relative_errors, unseen

SEEDS = range(12)
POINTS = (1, 2, 3, 4, 6, 8)


def main() -> None:
    names = " ".join(f"{n:>6}" for n in POINTS)
    print(
        f"{'median error after points:':<26} {names} | {'size':>6} {'table':>6} {'p90':>6}"
        f" {'1 sd':>5} {'2 sd':>5} {'fit':>8}"
    )
    for profile in SIX:
        medians = [np.median(errors(profile, n)[0]) for n in POINTS]
        plain, claimed, taken = errors(profile, 6)
        size = np.median(errors(profile, 6, model_bytes=profile.model_bytes)[0])
        table = np.median(
            errors(profile, 6, model_bytes=profile.model_bytes, all_reduce=timed(profile))[0]
        )
        row = " ".join(f"{100 * m:>5.1f}%" for m in medians)
        within = [100 * np.mean(plain <= n * claimed) for n in (1, 2)]
        print(
            f"{profile.name:<26} {row} | {100 * size:>5.1f}% {100 * table:>5.1f}%"
            f" {100 * np.quantile(plain, 0.9):>5.0f}% {within[0]:>4.0f}% {within[1]:>4.0f}%"
            f" {1000 * taken:>5.1f} ms"
        )


def errors(
    profile: Profile,
    points: int,
    *,
    model_bytes: int = 0,
    all_reduce: AllReduceTable | None = None,
) -> tuple[np.ndarray, np.ndarray, float]:
    found, claims, taken = [], [], []
    for seed in SEEDS:
        seen = exploration(profile.name, points, seed)
        fitting.forget()
        started = process_time()
        scaling = fitting.fit(seen, model_bytes=model_bytes, all_reduce=all_reduce)
        taken.append(process_time() - started)
        assert scaling is not None  # there is a point
        rest = unseen(profile, seen)
        found.append(relative_errors(scaling, profile, rest))
        claims.append(scaling.relative_error(at(rest)))
    return np.concatenate(found), np.concatenate(claims), median(taken)


@cache
def exploration(name: str, points: int, seed: int) -> tuple[StepTime, ...]:
    """The same for every kind of knowledge; a longer one begins with the shorter one."""
    profile = next(profile for profile in SIX if profile.name == name)
    if points < POINTS[-1]:
        return exploration(name, POINTS[-1], seed)[:points]
    return explored(profile, points, seed)


def timed(profile: Profile) -> AllReduceTable:
    """What a pool's table would say of this application's gradient, 30 % off."""
    times = []
    for crosses in (False, True):
        for workers in (2, 4) if not crosses else (8, 16):
            model = profile.model
            fixed = model.cross_node_fixed if crosses else model.in_node_fixed
            further = model.cross_node_per_worker if crosses else model.in_node_per_worker
            times.append(
                AllReduceTime(
                    bytes=profile.model_bytes,
                    workers=workers,
                    crosses_nodes=crosses,
                    seconds=1.3 * max(fixed + further * (workers - 2), 1e-6),
                )
            )
    return AllReduceTable(times=tuple(times))


if __name__ == "__main__":
    main()
