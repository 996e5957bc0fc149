"""Is `completion_time` the better objective? Against every other policy, on both workloads.

And against the objectives of later schedulers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from autoscaler.planning.snapshot.vocabulary import AdmissionVariant
from autoscaler.plots.bar_chart import Bar, BarChart
from autoscaler.plots.frame import Picture
from autoscaler.plots.units import Unit, written
from autoscaler.simulation.engine.comparison.comparison import Run
from autoscaler.simulation.engine.replay.settings import HotRescale, Settings
from autoscaler.simulation.engine.results.summary import mean
from benchmarks.reproduction.document import Claim, Section, Verdict, filled, picture, table
from benchmarks.reproduction.experiments.founding_paper import simulation_settings, with_policy
from benchmarks.reproduction.experiments.later_schedulers import ALL, LATER
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
    *LATER,
    "static",
)
NOTICEABLE: Final = 0.01  # smaller differences of means are chance
APPLICATION_GPUS: Final = 64
MOST_HOURS: Final = 48.0  # what is not done by then counts as backlog
TICK_SECONDS: Final = 30.0

Key = tuple[str, int, str]  # workload, seed, policy
Runs = Mapping[str, Sequence[Run]]  # of one workload, by policy


def experiment(lab: Lab, scale: Scale) -> Section:
    """Every policy on the six applications and on the three kinds of jobs, by seed."""
    trials = {**_applications(scale), **_kinds(scale), **_hot_kinds(scale)}
    runs = lab.run("completion_time against the others", trials)
    applications, kinds, hot = (_of(runs, name) for name in ("applications", "kinds", "hot kinds"))
    return Section(
        title="completion_time against every other policy",
        text=_text(scale, applications, kinds),
        claims=tuple(_claims(applications, kinds, why=_why(kinds, hot))),
        pictures={"all-policies": _picture(applications)},
    )


def application_settings() -> Settings:
    """64 GPUs, hot rescales, and progress counted by statistical efficiency, as Pollux does."""
    return Settings(
        pools=(pool(APPLICATION_GPUS),),
        policies=ALL,
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
    settings = _kinds_settings(scale)
    return {
        ("kinds", seed, policy): _kinds_trial(scale, settings, seed, policy)
        for seed in scale.seeds
        for policy in POLICIES
    }


def _hot_kinds(scale: Scale) -> dict[Key, Trial]:
    """How much of the difference is the cost of restarts?"""
    settings = replace(_kinds_settings(scale), rescale=HotRescale())
    return {
        ("hot kinds", seed, policy): _kinds_trial(scale, settings, seed, policy)
        for seed in scale.seeds
        for policy in POLICIES[:2]
    }


def _kinds_settings(scale: Scale) -> Settings:
    settings = simulation_settings(scale.clusters[0], AdmissionVariant.QUEUEING)
    return replace(settings, policies=ALL)


def _kinds_trial(scale: Scale, settings: Settings, seed: int, policy: str) -> Trial:
    cluster = scale.clusters[0]
    trace = three_kinds(Arrivals.HIGH, gpus=cluster.gpus, seconds=cluster.hours * HOUR, seed=seed)
    return Trial(trace=trace, candidate=with_policy(settings, policy, policy))


def _of(runs: Mapping[Key, Run], workload: str) -> Runs:
    policies = dict.fromkeys(policy for name, _, policy in runs if name == workload)
    return {
        policy: [run for (name, _, p), run in runs.items() if (name, p) == (workload, policy)]
        for policy in policies
    }


def _text(scale: Scale, applications: Runs, kinds: Runs) -> str:
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


def _table(runs: Runs) -> str:
    heads = ("policy", "mean", "mean of all, at least", "p50", "p99", "makespan", "done",
             "backlog", "GPU-hours", "rescales per job", "worst fairness")  # fmt: skip
    return table(heads, (_row(policy, found) for policy, found in runs.items()))


def _row(policy: str, runs: Sequence[Run]) -> list[str]:
    def average(attribute: str, unit: Unit = Unit.NUMBER) -> str:
        return written(average_of(runs, attribute), unit)

    times = ("p50_completion_seconds", "p99_completion_seconds", "makespan_seconds")
    rest = ("done", "backlog", "gpu_hours", "rescales_per_job", "worst_fairness")
    return [
        f"`{policy}`",
        average("mean_completion_seconds", Unit.SECONDS),
        written(mean([_mean_of_all(run) for run in runs]), Unit.SECONDS),
        *(average(attribute, Unit.SECONDS) for attribute in times),
        *(average(attribute) for attribute in rest),
    ]


def average_of(runs: Sequence[Run], attribute: str) -> float | None:
    """A figure of the summary, over the runs that have it."""
    values = [getattr(run.summary, attribute) for run in runs]
    return mean([value for value in values if value is not None])


def _mean_of_all(run: Run) -> float:
    """Seconds each job took or has taken so far: a bound that no backlog can flatter."""
    end = run.result.ended_at
    jobs = run.result.jobs
    ends = (end if job.finished_at is None else job.finished_at for job in jobs)
    return mean([done - job.submitted_at for done, job in zip(ends, jobs, strict=True)]) or 0.0


def _claims(applications: Runs, kinds: Runs, *, why: str) -> Iterable[Claim]:
    """Judged by the mean of all jobs, as policies differ in how many they finish."""
    for policy in POLICIES[1:]:
        changes = [_change(runs, policy) for runs in (applications, kinds)]
        yield Claim(
            statement=f"Jobs complete sooner than under `{policy}`",
            measured=f"six applications {changes[0]:+.1%}, three kinds {changes[1]:+.1%}",
            verdict=_verdict(changes),
            why=why,
        )


def _change(runs: Runs, policy: str) -> float:
    ours, theirs = (
        mean([_mean_of_all(run) for run in runs[name]]) or 0.0 for name in (OURS, policy)
    )
    return ours / theirs - 1 if theirs else 0.0


def _verdict(changes: Sequence[float]) -> Verdict:
    sooner = [change < -NOTICEABLE for change in changes]
    if all(sooner):
        return Verdict.HOLDS
    if any(sooner):
        return Verdict.IN_PART
    return Verdict.FAILS if any(change > NOTICEABLE for change in changes) else Verdict.TIE


def _why(kinds: Runs, hot: Runs) -> str:
    rival = POLICIES[1]
    ours, theirs = (average_of(kinds[name], "rescales_per_job") or 0.0 for name in (OURS, rival))
    return (
        "The three kinds differ much in how they scale and little in length (10 to 60 minutes,"
        " known exactly), so whom a GPU helps most matters more than who is shortest."
        " `completion_time` weighs by length as if all jobs scaled alike, which the theory behind"
        " its weights assumes; and it changes jobs more often"
        f" ({ours:.2f} times each, `{rival}` {theirs:.2f}), 30 s of standing still each time. With"
        f" hot changes it is {_change(hot, rival):+.1%} instead of {_change(kinds, rival):+.1%}"
        f" against `{rival}`. Among the six applications lengths vary by a factor of a hundred and"
        " more, and there length matters most."
    )


def _picture(runs: Runs) -> Picture:
    """Draw all policies but `static`, beside which the others look the same."""
    return BarChart(
        description="Mean completion time of elastic policies, six applications",
        bars=[
            Bar(name=policy, value=average_of(found, "mean_completion_seconds"), slot=slot)
            for slot, (policy, found) in enumerate(runs.items())
            if policy != "static"
        ],
        unit=Unit.SECONDS,
    ).drawn()
