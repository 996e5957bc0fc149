"""Are deadlines met? The policy `deadline` against policies that do not look at any."""

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

OURS: Final = "deadline"
POLICIES: Final = (OURS, "completion_time", "throughput", "elastic_fifo", "static")
SLACKS: Final = {  # of the length on one GPU: whoever has less than that needs several
    "tight": (0.1, 0.5),
    "loose": (0.5, 1.5),
}
SHORT_FIRST: Final = (
    "These deadlines grow with a job's length, so whoever serves short jobs first, as"
    " `completion_time` does, meets many of them anyway. `deadline` gives a job the fewest GPUs"
    " that are predicted to suffice, and no more while nobody else needs them: where a prediction"
    " errs by more than the margin the job is late, while policies that give more than is needed"
    " have time in hand. Where a deadline is too tight to be met at all nothing can be won. What"
    " `deadline` does save is GPU time."
)
ONE_IN: Final = 2  # jobs has a deadline

Runs = Mapping[tuple[str, str], Sequence[Run]]  # by deadlines and policy


def experiment(lab: Lab, scale: Scale) -> Section:
    """The six applications with deadlines."""
    trials = {
        (name, policy, seed): Trial(
            trace=_trace(scale, seed, slack),
            candidate=with_policy(application_settings(), policy, policy),
        )
        for name, slack in SLACKS.items()
        for policy in POLICIES
        for seed in scale.varied_seeds
    }
    found = lab.run("Deadlines", trials)
    runs = {
        (name, policy): [found[name, policy, seed] for seed in scale.varied_seeds]
        for name in SLACKS
        for policy in POLICIES
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


def _table(runs: Runs) -> str:
    heads = ("deadlines, policy", "met", "mean, with deadline", "mean, without", "p99",
             "GPU-hours")  # fmt: skip
    return table(heads, (_row(name, policy, found) for (name, policy), found in runs.items()))


def _row(name: str, policy: str, runs: Sequence[Run]) -> list[str]:
    return [
        f"{name}, `{policy}`",
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
    return average_of(runs, "deadlines_met") or 0.0


def _claims(runs: Runs) -> Iterable[Claim]:
    for policy in POLICIES[1:]:
        both = {name: (_met(runs[name, OURS]), _met(runs[name, policy])) for name in SLACKS}
        yield Claim(
            statement=f"More deadlines are met than under `{policy}`",
            measured=", ".join(f"{n}: {o:.1%} against {t:.1%}" for n, (o, t) in both.items()),
            verdict=Verdict.over([ours > theirs for ours, theirs in both.values()]),
            why=SHORT_FIRST,
        )
