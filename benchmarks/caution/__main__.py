"""What does not knowing a job's speed cost? Run `python -m benchmarks.caution [--hot] [--seeds 8]`.

Replays the six applications of the reproduction (160 jobs, 64 GPUs) under the planner's own rule of
when to change a job, beside an oracle that knows every job's speed from the start. Further rows
take away more: the lengths of jobs, or the quality of measurements. Prints the figures of each,
averaged over the seeds, and how far the mean completion time is from the oracle's, with twice the
standard error of the paired difference. A replay takes some 5 s of a processor, a hot one 20 s.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import product
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from autoscaler.simulation.engine.comparison.candidates import Candidate
from autoscaler.simulation.engine.comparison.comparison import replay
from autoscaler.simulation.engine.replay.settings import CheckpointRestart, HotRescale, Knowledge
from autoscaler.simulation.engine.results.summary import Summary, summarise
from benchmarks.reproduction.experiments.all_policies import (
    APPLICATION_GPUS,
    OURS,
    application_settings,
)
from benchmarks.reproduction.experiments.founding_paper import with_policy
from benchmarks.reproduction.workloads import six_applications

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from autoscaler.simulation.engine.replay.settings import Settings
    from autoscaler.simulation.engine.workload.trace import Trace

JOBS = 160
HOURS = 8.0
RESTART_SECONDS = 30.0
TICK_SECONDS = {False: 60.0, True: 10.0}  # hot changes are cheap, so they may be decided often


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What the planner knows in one row of the table."""

    name: str
    knowledge: Knowledge = Knowledge.MEASURED
    noise: float = 0.05  # of the measurements
    declared: float | None = 1.0  # factor on the true lengths; None: no job declares its length

    def settings(self, *, is_hot: bool) -> Settings:
        return replace(
            with_policy(application_settings(), OURS, OURS).settings,
            tick_seconds=TICK_SECONDS[is_hot],
            rescale=HotRescale() if is_hot else CheckpointRestart(seconds=RESTART_SECONDS),
            measurement_noise=self.noise,
            knowledge=self.knowledge,
        )

    def trace(self, seed: int) -> Trace:
        trace, factor = six_applications(jobs=JOBS, hours=HOURS, seed=seed), self.declared
        if factor == 1.0:
            return trace
        jobs = tuple(
            replace(job, declared_samples=None if factor is None else round(factor * job.samples))
            for job in trace.jobs
        )
        return replace(trace, jobs=jobs)


ORACLE = Row(name="speeds known", knowledge=Knowledge.ORACLE)
ROWS = (
    ORACLE,
    Row(name="known by an earlier run", knowledge=Knowledge.EARLIER_RUNS),
    Row(name="speeds measured"),
    Row(name="measured with 15 % noise", noise=0.15),
    Row(name="half of the length declared", declared=0.5),
    Row(name="1.5 times the length declared", declared=1.5),
    Row(name="no length declared", declared=None),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hot", action="store_true", help="changes of 1 s, a tick of 10 s")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    trials = list(product(ROWS, range(asked.seeds), [asked.hot]))
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(asked.processes, mp_context=context) as pool:
        found = dict(zip(trials, pool.map(simulated, trials), strict=True))
    by_row = {row: [found[row, seed, asked.hot] for seed in range(asked.seeds)] for row in ROWS}
    print("| what is known | mean | to the oracle | p50 | p99 | makespan | changes | GPUs in use |")
    print("|---|---|---|---|---|---|---|---|")
    for row in ROWS:
        print(f"| {row.name} | {' | '.join(cells(row, by_row))} |")


def simulated(trial: tuple[Row, int, bool]) -> Summary:
    row, seed, is_hot = trial
    settings = row.settings(is_hot=is_hot)
    found = replay(row.trace(seed), Candidate(label=row.name, settings=settings))
    return summarise(found.result, gpus=APPLICATION_GPUS)


def cells(row: Row, by_row: Mapping[Row, Sequence[Summary]]) -> tuple[str, ...]:
    summaries = by_row[row]

    def average(name: str) -> float:
        return fmean(getattr(summary, name) or 0.0 for summary in summaries)

    return (
        f"{average('mean_completion_seconds'):.0f} s",
        difference(summaries, by_row[ORACLE]),
        f"{average('p50_completion_seconds'):.0f} s",
        f"{average('p99_completion_seconds'):.0f} s",
        f"{average('makespan_seconds') / 3600:.1f} h",
        f"{average('rescales_per_job'):.1f}",
        f"{average('utilisation'):.0%}",
    )


def difference(summaries: Sequence[Summary], oracle: Sequence[Summary]) -> str:
    """How much longer the mean job takes than under the oracle, workload by workload."""
    ratios = [
        (one.mean_completion_seconds or 0.0) / (best.mean_completion_seconds or 1.0) - 1
        for one, best in zip(summaries, oracle, strict=True)
    ]
    if len(ratios) == 1:
        return f"{ratios[0]:+.1%}"
    return f"{fmean(ratios):+.1%} ± {2 * stdev(ratios) / math.sqrt(len(ratios)):.1%}"


if __name__ == "__main__":
    main()
