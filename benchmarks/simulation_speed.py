"""How fast is a replay? Run `python benchmarks/simulation_speed.py [small] [large]`.

Prints the processor seconds of two replays, with the number of plans and the milliseconds per
plan: 160 jobs on 64 GPUs (a working day of full runs of the six measured applications, whose
speeds are learned), and 50,000 jobs on 4,096 GPUs (eight teams with guarantees, load 0.8, known
speeds). A tick every minute, hot rescales.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from statistics import quantiles
from time import perf_counter, process_time

from autoscaler.planning.snapshot.cluster_state import PlannedNode, PlannedPool, TeamQuota
from autoscaler.simulation.engine.replay.settings import Knowledge, Settings
from autoscaler.simulation.engine.replay.simulator import run
from autoscaler.simulation.engine.results.records import SimulationProgress
from autoscaler.simulation.engine.workload.arrivals import Poisson, rate_for_load
from autoscaler.simulation.engine.workload.generators import (
    BY_GPU_TIME,
    SIX_APPLICATIONS,
    Mix,
    WorkloadRecipe,
    generate,
    mean_length_seconds,
)
from autoscaler.simulation.engine.workload.lengths import FullRuns, LengthDistribution, LogNormal

TEAMS = tuple(f"team{number}" for number in range(8))


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One replay with the seconds it may take."""

    name: str
    jobs: int
    nodes: int
    gpus_per_node: int
    load: float
    mix: Mix
    lengths: LengthDistribution
    knowledge: Knowledge
    limit_seconds: float

    @property
    def gpus(self) -> int:
        return self.nodes * self.gpus_per_node


CASES = (
    Case(
        name="small",
        jobs=160,
        nodes=16,
        gpus_per_node=4,
        load=1.0,
        mix=BY_GPU_TIME,
        lengths=FullRuns(),
        knowledge=Knowledge.MEASURED,
        limit_seconds=5.0,
    ),
    Case(
        name="large",
        jobs=50_000,
        nodes=512,
        gpus_per_node=8,
        load=0.8,
        mix=SIX_APPLICATIONS,
        lengths=LogNormal(median=7200.0, sigma=1.2),
        knowledge=Knowledge.ORACLE,
        limit_seconds=600.0,
    ),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", metavar="case")
    parser.add_argument("--jobs", type=int, help="as many jobs instead")
    parser.add_argument("--load", type=float, help="another load; above 1 the queue grows")
    parser.add_argument("--knowledge", choices=list(Knowledge))
    chosen = parser.parse_args()
    for case in CASES:
        if not chosen.cases or case.name in chosen.cases:
            measure(
                case,
                jobs=chosen.jobs or case.jobs,
                load=chosen.load or case.load,
                knowledge=Knowledge(chosen.knowledge or case.knowledge),
            )


def measure(case: Case, *, jobs: int, load: float, knowledge: Knowledge) -> None:
    mean = mean_length_seconds(case.mix, case.lengths)
    rate = rate_for_load(load, gpus=case.gpus, mean_length_seconds=mean)
    trace = generate(
        WorkloadRecipe(
            name=case.name,
            arrivals=Poisson(per_second=rate),
            jobs=jobs,
            mix=case.mix,
            lengths=case.lengths,
            teams=tuple((team, 1.0) for team in TEAMS),
        ),
        seed=1,
    )
    started, bar = process_time(), Bar(perf_counter())
    result = run(trace, settings(case, knowledge), clock=perf_counter, on_progress=bar.show)
    wall, seconds = perf_counter() - bar.started_at, process_time() - started
    milliseconds = sorted(1000 * taken for taken in result.decision_seconds)
    finished = [record for record in result.jobs if record.finished_at is not None]
    completion = sum(record.completion_seconds or 0 for record in finished) / len(finished)
    print(
        f"\r{case.name}: {jobs} jobs, {case.gpus} GPUs, load {load:g}, {knowledge}\n"
        f"  {seconds:.1f} s of one core (limit {case.limit_seconds:.0f} s; {wall:.1f} s by the "
        f"wall clock), {result.plans} plans, "
        f"{sum(milliseconds) / result.plans:.2f} ms per plan "
        f"(p99 {quantiles(milliseconds, n=100)[98]:.1f}, worst {milliseconds[-1]:.1f})\n"
        f"  {sum(milliseconds) / 1000 / wall:.0%} of the time in the planner; "
        f"{result.ended_at / 3600:.1f} h simulated, {len(finished)} finished, "
        f"mean completion {completion / 60:.1f} min"
    )


def settings(case: Case, knowledge: Knowledge) -> Settings:
    nodes = tuple(PlannedNode(name=f"n{i:03}", gpus=case.gpus_per_node) for i in range(case.nodes))
    share = case.gpus // len(TEAMS)
    return Settings(
        pools=(PlannedPool(name="default", nodes=nodes),),
        quotas=tuple(
            TeamQuota(team=team, pool="default", guaranteed_gpus=share // 2) for team in TEAMS
        ),
        tick_seconds=60.0,
        knowledge=knowledge,
    )


@dataclass(slots=True)
class Bar:
    """One line that is written over, at most twice a second."""

    started_at: float
    shown_at: float = 0.0

    def show(self, progress: SimulationProgress) -> None:
        now = perf_counter()
        if now - self.shown_at >= 0.5 and sys.stderr.isatty():
            self.shown_at = now
            share = progress.jobs_ended / progress.jobs
            print(f"\r{share:6.1%}  {progress.now / 3600:8.1f} h", end="", file=sys.stderr)


if __name__ == "__main__":
    main()
