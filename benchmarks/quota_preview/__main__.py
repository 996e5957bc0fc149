"""How long does a preview of quotas take? Run `python -m benchmarks.quota_preview`.

Prints the seconds of the two replays of a week, the present cluster and one where a team is
guaranteed twice as much, and of reading the kept past again, without a database. The aim is 30 s
for 2,000 jobs of 1 to 8 workers on 64 GPUs.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from time import perf_counter, process_time

from autoscaler.planning.snapshot.cluster_state import PlannedNode, PlannedPool, TeamQuota
from autoscaler.simulation.api.previews.pacing import paced
from autoscaler.simulation.engine.comparison.before_after import compared, newly_paused
from autoscaler.simulation.engine.comparison.by_team import OutcomeByTeam, outcome_by_team
from autoscaler.simulation.engine.replay.settings import Knowledge, Settings
from autoscaler.simulation.engine.replay.simulator import run
from autoscaler.simulation.engine.workload.importers.concertina_json import from_json, to_json
from autoscaler.simulation.engine.workload.recipes import Pattern, Recipe, trace_of
from autoscaler.simulation.engine.workload.trace import Trace

NODES, GPUS_PER_NODE = 8, 8
TEAMS = tuple(f"team-{number}" for number in range(6))
WEEK = 7 * 86_400.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2000)
    parser.add_argument("--most-workers", type=int, default=8, help="of a job")
    chosen = parser.parse_args()
    trace = week_of(chosen.jobs, most_workers=chosen.most_workers)
    began = perf_counter()
    before = replayed("as it is", trace, cluster(first_team=8))
    after = replayed("changed", trace, cluster(first_team=16))
    print(f"both replays of {len(trace.jobs):,} jobs: {perf_counter() - began:.1f} s (aim: 30 s)")
    began = perf_counter()
    text = to_json(trace)
    from_json(text)
    print(f"kept past: {len(text) / 1e6:.1f} MB, {perf_counter() - began:.1f} s to write and read")
    paused = newly_paused(before, after)
    print(f"{len(compared(before, after))} rows; {len(paused)} jobs paused that were not")


def week_of(jobs: int, *, most_workers: int) -> Trace:
    """Return jobs that come within a week, at the load that this gives."""
    recipe = Recipe(pattern=Pattern.DAILY, jobs=jobs, teams=TEAMS)
    trace = trace_of(recipe, gpus=NODES * GPUS_PER_NODE, seed=1)
    scale = WEEK / max(job.submitted_at for job in trace.jobs)
    return replace(
        trace,
        jobs=tuple(
            replace(
                job,
                submitted_at=job.submitted_at * scale,
                max_workers=max(min(job.max_workers, most_workers), job.min_workers),
            )
            for job in trace.jobs
        ),
    )


def cluster(*, first_team: int) -> Settings:
    nodes = tuple(PlannedNode(name=f"n{number}", gpus=GPUS_PER_NODE) for number in range(NODES))
    guaranteed = dict.fromkeys(TEAMS, 8) | {TEAMS[0]: first_team}
    return Settings(
        pools=(PlannedPool(name="default", nodes=nodes),),
        quotas=tuple(
            TeamQuota(team=team, pool="default", guaranteed_gpus=gpus)
            for team, gpus in guaranteed.items()
        ),
        paces_events=True,
        knowledge=Knowledge.ORACLE,
        statistical_efficiency=True,
    )


def replayed(what: str, trace: Trace, settings: Settings) -> OutcomeByTeam:
    began, worked = perf_counter(), process_time()
    paced_settings = paced(settings, trace)
    result = run(trace, paced_settings)
    outcome = outcome_by_team(result, paced_settings)
    print(
        f"{what}: {perf_counter() - began:.1f} s, {process_time() - worked:.1f} s of one core,"
        f" {result.plans} plans"
    )
    return outcome


if __name__ == "__main__":
    main()
