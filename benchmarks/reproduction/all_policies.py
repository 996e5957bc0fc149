"""Is `completion_time` the better objective? Against every other policy, on both workloads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from autoscaler.planning.cluster_state import AdmissionVariant
from autoscaler.plots.bar_chart import Bar, BarChart
from autoscaler.plots.frame import Picture
from autoscaler.plots.units import Unit, significant, written
from autoscaler.simulation.comparison import Run
from autoscaler.simulation.settings import HotRescale, Settings
from autoscaler.simulation.summary import Summary, mean
from benchmarks.reproduction.document import Claim, Section, filled, picture, table
from benchmarks.reproduction.founding_paper import simulation_settings, with_policy
from benchmarks.reproduction.lab import Lab, Trial
from benchmarks.reproduction.scale import Scale
from benchmarks.reproduction.workloads import (
    HOUR,
    LOADS,
    Arrivals,
    pool,
    six_applications,
    three_kinds,
)

OURS: Final = "completion_time"
POLICIES: Final = (
    OURS,
    "throughput",
    "fixed_batch:batch=min",
    "fixed_batch:batch=random",
    "fixed_batch:batch=max",
    "elastic_fifo",
    "scaling_efficiency",
    "utility_cost",
    "deadline",
    "static",
)
APPLICATION_GPUS: Final = 64
MOST_HOURS: Final = 48.0  # what is not done by then counts as backlog
TICK_SECONDS: Final = 30.0

Key = tuple[str, int, str]  # workload, seed, policy


def experiment(lab: Lab, scale: Scale) -> Section:
    """Every policy on the six applications, by seed, and on the three kinds of jobs."""
    trials = {**_applications(scale), **_kinds(scale)}
    runs = lab.run("completion_time against the others", trials)
    applications = _by_policy(runs, "applications")
    kinds = _by_policy(runs, "kinds")
    return Section(
        title="completion_time against every other policy",
        text=_text(scale, applications, kinds),
        claims=(
            *_claims("six applications", applications),
            *_claims("three kinds of jobs", kinds),
        ),
        pictures={"all-policies": _picture(applications)},
    )


def application_settings() -> Settings:
    """64 GPUs, hot rescales, and progress counted by statistical efficiency, as Pollux does."""
    return Settings(
        pools=(pool(APPLICATION_GPUS),),
        tick_seconds=TICK_SECONDS,
        rescale=HotRescale(),
        measurement_noise=0.05,
        statistical_efficiency=True,
        horizon_seconds=MOST_HOURS * HOUR,
    )


def _applications(scale: Scale) -> dict[Key, Trial]:
    return {
        ("applications", seed, policy): Trial(
            trace=six_applications(
                jobs=scale.application_jobs, hours=scale.application_hours, seed=seed
            ),
            candidate=with_policy(application_settings(), policy, policy),
        )
        for seed in scale.seeds
        for policy in POLICIES
    }


def _kinds(scale: Scale) -> dict[Key, Trial]:
    cluster = scale.clusters[0]
    settings = simulation_settings(cluster, AdmissionVariant.QUEUEING)
    trace = three_kinds(Arrivals.HIGH, gpus=cluster.gpus, seconds=cluster.hours * HOUR, seed=0)
    return {
        ("kinds", 0, policy): Trial(trace=trace, candidate=with_policy(settings, policy, policy))
        for policy in POLICIES
    }


def _by_policy(runs: Mapping[Key, Run], workload: str) -> dict[str, list[Summary]]:
    return {
        policy: [
            run.summary for (name, _, p), run in runs.items() if (name, p) == (workload, policy)
        ]
        for policy in POLICIES
    }


def _text(
    scale: Scale,
    applications: Mapping[str, Sequence[Summary]],
    kinds: Mapping[str, Sequence[Summary]],
) -> str:
    cluster = scale.clusters[0]
    return filled(
        "all_policies",
        jobs=scale.application_jobs,
        hours=f"{scale.application_hours:g}",
        gpus=APPLICATION_GPUS,
        seeds=len(scale.seeds),
        tick=f"{TICK_SECONDS:g}",
        horizon=f"{MOST_HOURS:g}",
        applications=_table(applications),
        picture=picture("all-policies", "Mean completion time by policy, six applications"),
        kinds_gpus=cluster.gpus,
        kinds_hours=f"{cluster.hours:g}",
        kinds_load=f"{LOADS[Arrivals.HIGH]:g}",
        kinds=_table(kinds),
    )


def _table(summaries: Mapping[str, Sequence[Summary]]) -> str:
    heads = ("policy", "mean", "p50", "p99", "makespan", "done", "backlog", "GPU-hours",
             "rescales per job", "worst fairness")  # fmt: skip
    return table(heads, (_row(policy, found) for policy, found in summaries.items()))


def _row(policy: str, summaries: Sequence[Summary]) -> list[str]:
    def average(attribute: str, unit: Unit = Unit.NUMBER) -> str:
        return written(average_of(summaries, attribute), unit)

    times = ("mean_completion_seconds", "p50_completion_seconds", "p99_completion_seconds",
             "makespan_seconds")  # fmt: skip
    rest = ("done", "backlog", "gpu_hours", "rescales_per_job", "worst_fairness")
    return [
        f"`{policy}`",
        *(average(attribute, Unit.SECONDS) for attribute in times),
        *(average(attribute) for attribute in rest),
    ]


def average_of(summaries: Sequence[Summary], attribute: str) -> float | None:
    """Over the runs that have the figure."""
    values = [getattr(summary, attribute) for summary in summaries]
    return mean([value for value in values if value is not None])


def _claims(workload: str, summaries: Mapping[str, Sequence[Summary]]) -> Iterable[Claim]:
    ours = average_of(summaries[OURS], "mean_completion_seconds") or 0.0
    done = average_of(summaries[OURS], "done") or 0.0
    for policy in POLICIES[1:]:
        theirs = average_of(summaries[policy], "mean_completion_seconds") or 0.0
        fewer = done - (average_of(summaries[policy], "done") or 0.0)
        note = f", and {significant(fewer)} more jobs done" if fewer > 0 else ""
        yield Claim(
            statement=f"{workload}: jobs complete sooner than under `{policy}`",
            measured=f"{_change(ours, theirs)}{note}",
            holds=ours < theirs,
        )


def _change(ours: float, theirs: float) -> str:
    return f"{100 * (ours / theirs - 1):+.1f} %" if theirs else "no job finished"


def _picture(summaries: Mapping[str, Sequence[Summary]]) -> Picture:
    return BarChart(
        description="Mean completion time, six applications",
        bars=[
            Bar(name=policy, value=average_of(found, "mean_completion_seconds"), slot=slot)
            for slot, (policy, found) in enumerate(summaries.items())
        ],
        unit=Unit.SECONDS,
    ).drawn()
