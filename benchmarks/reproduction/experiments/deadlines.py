"""Are deadlines met? Under each policy: with deadlines that the planner is told, and without."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from autoscaler.plots.units import Unit, written
from autoscaler.simulation.engine.comparison.comparison import Run
from autoscaler.simulation.engine.results.summary import mean
from autoscaler.simulation.engine.workload.trace import Trace
from benchmarks.reproduction.document import Claim, Section, Verdict, filled, table
from benchmarks.reproduction.experiments.all_policies import application_settings, average_of
from benchmarks.reproduction.experiments.founding_paper import with_policy
from benchmarks.reproduction.lab import Lab, Trial
from benchmarks.reproduction.scale import Scale
from benchmarks.reproduction.workloads import six_applications

POLICIES: Final = ("completion_time", "throughput", "elastic_fifo")
SLACKS: Final = {  # of the length on one GPU: whoever has less than that needs several
    "tight": (0.1, 0.5),
    "loose": (0.5, 1.5),
}
TOLD: Final = {True: "told", False: "not told"}
NOT_ALL: Final = (
    "These deadlines grow with a job's length, so whoever serves short jobs first, as"
    " `completion_time` does, meets many of them anyway. Where a deadline is too tight to be met at"
    " all nothing can be won, and where a prediction errs by more than the margin of a tenth the"
    " job is late."
)
ONE_IN: Final = 2  # jobs has a deadline

Runs = Mapping[tuple[str, str, bool], Sequence[Run]]  # by deadlines, policy, and whether told


def experiment(lab: Lab, scale: Scale) -> Section:
    """The six applications with deadlines."""
    traces = {
        (name, seed): _trace(scale, seed, slack)
        for name, slack in SLACKS.items()
        for seed in scale.varied_seeds
    }
    trials = {
        (name, policy, is_told, seed): Trial(
            trace=trace if is_told else _without_deadlines(trace),
            candidate=with_policy(application_settings(), policy, policy),
        )
        for (name, seed), trace in traces.items()
        for policy in POLICIES
        for is_told in TOLD
    }
    found = lab.run("Deadlines", trials)
    runs = {
        (name, policy, is_told): [
            _with_deadlines(found[name, policy, is_told, seed], traces[name, seed])
            for seed in scale.varied_seeds
        ]
        for name in SLACKS
        for policy in POLICIES
        for is_told in TOLD
    }
    tight, loose = ("{:.0%} to {:.0%}".format(*slack) for slack in SLACKS.values())
    return Section(
        title="Meeting deadlines",
        text=filled(
            "deadlines",
            one_in=ONE_IN,
            tight=tight,
            loose=loose,
            table=_table(runs),
        ),
        claims=tuple(_claims(runs)),
    )


def _trace(scale: Scale, seed: int, slack: tuple[float, float]) -> Trace:
    trace = six_applications(
        jobs=scale.application_jobs, hours=scale.application_hours, seed=seed, slack=slack
    )
    jobs = tuple(
        job if number % ONE_IN == 0 else replace(job, deadline=None)
        for number, job in enumerate(trace.jobs)
    )
    return replace(trace, jobs=jobs)


def _without_deadlines(trace: Trace) -> Trace:
    return replace(trace, jobs=tuple(replace(job, deadline=None) for job in trace.jobs))


def _with_deadlines(run: Run, trace: Trace) -> Run:
    """Put the deadlines into the records, also of a run that was not told of them."""
    deadlines = {job.name: job.deadline for job in trace.jobs}
    jobs = tuple(replace(job, deadline=deadlines[job.name]) for job in run.result.jobs)
    return replace(run, result=replace(run.result, jobs=jobs))


def _table(runs: Runs) -> str:
    heads = ("deadlines, policy", "planner", "met", "mean, with deadline", "mean, without", "p99",
             "GPU-hours")  # fmt: skip
    return table(heads, (_row(key, found) for key, found in runs.items()))


def _row(key: tuple[str, str, bool], runs: Sequence[Run]) -> list[str]:
    name, policy, is_told = key
    return [
        f"{name}, `{policy}`",
        TOLD[is_told],
        written(_met(runs), Unit.SHARE),
        *(written(_mean(runs, has_deadline=has), Unit.SECONDS) for has in (True, False)),
        written(average_of(runs, "p99_completion_seconds"), Unit.SECONDS),
        written(average_of(runs, "gpu_hours")),
    ]


def _mean(runs: Sequence[Run], *, has_deadline: bool) -> float | None:
    """Mean completion time of the jobs that finished, with or without a deadline."""
    return mean(
        [
            job.completion_seconds
            for run in runs
            for job in run.result.jobs
            if job.completion_seconds is not None and (job.deadline is not None) == has_deadline
        ]
    )


def _met(runs: Sequence[Run]) -> float:
    is_met = [job.met_deadline for run in runs for job in run.result.jobs]
    return mean([met for met in is_met if met is not None]) or 0.0


def _claims(runs: Runs) -> Iterable[Claim]:
    for policy in POLICIES:
        both = {n: (_met(runs[n, policy, True]), _met(runs[n, policy, False])) for n in SLACKS}
        yield Claim(
            statement=f"Under `{policy}` more deadlines are met if the planner is told of them",
            measured=", ".join(f"{n}: {t:.1%} against {o:.1%}" for n, (t, o) in both.items()),
            verdict=Verdict.over([told > untold for told, untold in both.values()]),
            why=NOT_ALL,
        )
