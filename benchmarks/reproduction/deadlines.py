"""Are deadlines met? The policy `deadline` against policies that do not look at any."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from autoscaler.plots.units import Unit, written
from autoscaler.simulation.comparison import Run
from autoscaler.simulation.summary import mean
from autoscaler.simulation.trace import Trace
from benchmarks.reproduction.all_policies import application_settings, average_of
from benchmarks.reproduction.document import Claim, Section, Verdict, filled, table
from benchmarks.reproduction.founding_paper import with_policy
from benchmarks.reproduction.lab import Lab, Trial
from benchmarks.reproduction.scale import Scale
from benchmarks.reproduction.workloads import six_applications

OURS: Final = "deadline"
POLICIES: Final = (OURS, "completion_time", "throughput", "elastic_fifo", "static")
SLACK: Final = (0.1, 0.5)  # of the length on one GPU, so that most jobs need several
ONE_IN: Final = 2  # jobs has a deadline

Runs = Mapping[str, Sequence[Run]]


def experiment(lab: Lab, scale: Scale) -> Section:
    """The six applications with deadlines."""
    trials = {
        (policy, seed): Trial(
            trace=_trace(scale, seed),
            candidate=with_policy(application_settings(), policy, policy),
        )
        for policy in POLICIES
        for seed in scale.varied_seeds
    }
    found = lab.run("Deadlines", trials)
    runs = {policy: [found[policy, seed] for seed in scale.varied_seeds] for policy in POLICIES}
    return Section(
        title="Meeting deadlines",
        text=filled(
            "deadlines",
            one_in=ONE_IN,
            tightest=f"{SLACK[0]:.0%}",
            loosest=f"{SLACK[1]:.0%}",
            table=_table(runs),
        ),
        claims=tuple(_claims(runs)),
    )


def _trace(scale: Scale, seed: int) -> Trace:
    trace = six_applications(
        jobs=scale.application_jobs, hours=scale.application_hours, seed=seed, slack=SLACK
    )
    jobs = tuple(
        job if number % ONE_IN == 0 else replace(job, deadline=None)
        for number, job in enumerate(trace.jobs)
    )
    return replace(trace, jobs=jobs)


def _table(runs: Runs) -> str:
    heads = ("policy", "deadlines met", "mean, with deadline", "mean, without", "p99",
             "GPU-hours")  # fmt: skip
    return table(heads, (_row(policy, found) for policy, found in runs.items()))


def _row(policy: str, runs: Sequence[Run]) -> list[str]:
    return [
        f"`{policy}`",
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
    ours = _met(runs[OURS])
    for policy in POLICIES[1:]:
        theirs = _met(runs[policy])
        yield Claim(
            statement=f"More deadlines are met than under `{policy}`",
            measured=f"{ours:.1%} against {theirs:.1%}",
            verdict=Verdict.of(holds=ours > theirs),
        )
