"""How often is a worker called a straggler that is none, and how soon is one that is?

    python benchmarks/false_alarms.py

Replays reports of workers with made-up noise on their compute time through the coordinator's own
rule: `hours` of a report a second for each number of workers. A false alarm is one worker coming
below the threshold once; it counts again only after it has recovered.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator
from typing import Final

from concertina_worker.coordinator.stragglers import Speeds, WorkerThroughput

Noise = Callable[[random.Random, int], float]
"""Factor on the compute time of one report, by chance, or by the second it is made in."""

NOISES: Final[dict[str, Noise]] = {
    "7 % normal": lambda chance, _: max(chance.gauss(1.0, 0.07), 0.1),
    "20 % normal": lambda chance, _: max(chance.gauss(1.0, 0.20), 0.1),
    "heavy tail (log-normal, 0.4)": lambda chance, _: chance.lognormvariate(0.0, 0.4),
    "very heavy tail (Pareto, 2)": lambda chance, _: 0.9 + 0.1 * chance.paretovariate(2.0),
    "hiccup: 1 s of 10 at a third": lambda _, at: 3.0 if at % 10 == 0 else 1.0,
    "hiccup: 5 s of 60 at a third": lambda _, at: 3.0 if at % 60 < 5 else 1.0,
}


def false_alarms(noise: Noise, *, workers: int, reports: int, seed: int = 1) -> int:
    speeds, alarmed, count = Speeds(), set[str](), 0
    for worker, took in told(noise, workers=workers, reports=reports, seed=seed):
        speeds.note(worker, pace(took))
        if not speeds.is_straggler(worker):
            alarmed.discard(worker)
        elif worker not in alarmed:
            alarmed.add(worker)
            count += 1
    return count


def reports_until_noticed(
    noise: Noise, slowdown: float, *, workers: int, seed: int = 1
) -> int | None:
    """The reports until one slow worker among others is noticed; None: not within ten minutes."""
    speeds, reports = Speeds(), 0
    for worker, took in told(noise, workers=workers, reports=600, seed=seed):
        is_slow = worker == "w1"
        reports += is_slow
        speeds.note(worker, pace(took * slowdown if is_slow else took))
        if speeds.is_straggler("w1"):
            return reports
    return None


def told(noise: Noise, *, workers: int, reports: int, seed: int) -> Iterator[tuple[str, float]]:
    """Who reports, in turn, and by which factor it took longer than usual."""
    chances = [random.Random(seed * 1000 + number) for number in range(workers)]  # noqa: S311 - repeatable
    for second in range(reports):
        for number, chance in enumerate(chances):
            yield f"w{number}", noise(chance, second + 13 * number)  # nobody hiccups with another


def pace(seconds: float) -> WorkerThroughput:
    """A report of ten steps on eight samples each."""
    return WorkerThroughput(steps=10, samples=80, compute_seconds=seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 3, 4, 8])
    arguments = parser.parse_args()
    reports = int(arguments.hours * 3600)
    print(f"False alarms in {arguments.hours:g} hours of one report a second, all workers together")
    print(f"{'noise on compute time':32}" + "".join(f"{n:>5} workers" for n in arguments.workers))
    for name, noise in NOISES.items():
        counts = [false_alarms(noise, workers=n, reports=reports) for n in arguments.workers]
        print(f"{name:32}" + "".join(f"{count:>13}" for count in counts))
    print("\nReports (seconds) until a worker so much slower is noticed, under 7 % noise; -: never")
    print(f"{'takes longer by':32}" + "".join(f"{n:>5} workers" for n in arguments.workers))
    for slowdown in (1.2, 4 / 3, 1.5, 1.6, 2.0, 4.0):
        found = [
            reports_until_noticed(NOISES["7 % normal"], slowdown, workers=n)
            for n in arguments.workers
        ]
        print(f"{slowdown - 1:<32.0%}" + "".join(f"{one or '-':>13}" for one in found))


if __name__ == "__main__":
    main()
