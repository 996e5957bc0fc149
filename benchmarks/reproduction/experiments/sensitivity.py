"""How much do the results hang on what was assumed? One assumption varied at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from autoscaler.plots.units import Unit, written
from autoscaler.simulation.engine.comparison.comparison import Run
from autoscaler.simulation.engine.replay.settings import (
    CheckpointRestart,
    HotRescale,
    Knowledge,
    Settings,
)
from autoscaler.simulation.engine.results.summary import mean
from autoscaler.simulation.engine.workload.trace import Trace, TraceJob
from benchmarks.reproduction.document import Claim, Section, Verdict, filled, paragraphs, table
from benchmarks.reproduction.experiments.all_policies import OURS, application_settings, average_of
from benchmarks.reproduction.experiments.founding_paper import with_policy
from benchmarks.reproduction.lab import Lab, Trial
from benchmarks.reproduction.scale import Scale
from benchmarks.reproduction.workloads import six_applications

LIARS: Final = 5  # every so many-th job is the liar's
LIE: Final = 3.0
LYING: Final = (
    "Whoever declares less than the truth counts as short until the declaration is used up. From"
    " then on the job is taken to be half way, so the gain ends there; admins see in a job's"
    " samples and progress that it was declared too short, and can lower its priority."
)
NOTICEABLE: Final = 0.02  # smaller differences of means are chance


@dataclass(frozen=True, slots=True)
class Variation:
    """One row of a table: a trace and settings that differ from the usual in one thing."""

    name: str
    settings: Callable[[Settings], Settings] = lambda settings: settings
    trace: Callable[[Trace], Trace] = lambda trace: trace


def experiment(lab: Lab, scale: Scale) -> Section:
    """All variations, each on the six applications under `completion_time`."""
    tables = {title: found[:: scale.steps] for title, found in TABLES.items()}
    variations = [one for found in tables.values() for one in found]
    trials = {
        (one.name, seed): _trial(one, scale, seed)
        for one in (*variations, *LIES)
        for seed in scale.varied_seeds
    }
    runs = lab.run("Sensitivity", trials)
    usual = _mean(runs, USUAL, scale)
    return Section(
        title="What the results hang on",
        text=_text(tables, runs, scale),
        claims=(*_claims(runs, scale, usual),),
    )


def _tick(seconds: float) -> Variation:
    return Variation(f"a decision every {seconds:g} s", lambda s: replace(s, tick_seconds=seconds))


def _stall(seconds: float) -> Variation:
    return Variation(
        f"hot, {seconds:g} s stall", lambda s: replace(s, rescale=HotRescale(stall=seconds))
    )


def _noise(share: float) -> Variation:
    return Variation(
        f"measured with {share:.0%} noise", lambda s: replace(s, measurement_noise=share)
    )


def _declared(name: str, factor: Callable[[int], float | None]) -> Variation:
    """Declarations by a job's place in the trace: a factor on the truth, None: no declaration."""

    def trace(trace: Trace) -> Trace:
        jobs = tuple(_declare(job, factor(number)) for number, job in enumerate(trace.jobs))
        return replace(trace, jobs=jobs)

    return Variation(name, trace=trace)


def _declare(job: TraceJob, factor: float | None) -> TraceJob:
    return replace(
        job, declared_samples=None if factor is None else max(round(factor * job.samples), 1)
    )


def _is_liar(number: int) -> bool:
    return number % LIARS == 0


USUAL: Final = Variation("lengths declared truthfully")
LIES: Final = (
    USUAL,
    _declared("the liar declares a third", lambda n: 1 / LIE if _is_liar(n) else 1.0),
    _declared("the liar declares three times as much", lambda n: LIE if _is_liar(n) else 1.0),
)
TABLES: Final[Mapping[str, tuple[Variation, ...]]] = {
    "time between decisions": tuple(map(_tick, (10, 30, 60, 120, 300, 600))),
    "cost of a rescale": (
        *map(_stall, (0, 1, 10, 30)),
        Variation("restart, 30 s", lambda s: replace(s, rescale=CheckpointRestart(seconds=30))),
        Variation("restart, as measured", lambda s: replace(s, rescale=CheckpointRestart())),
        Variation("restart, 250 s", lambda s: replace(s, rescale=CheckpointRestart(seconds=250))),
    ),
    "knowledge of speed": (
        Variation("known exactly", lambda s: replace(s, knowledge=Knowledge.ORACLE)),
        *map(_noise, (0.0, 0.07, 0.2, 0.5)),
    ),
    "knowledge of length": (
        _declared("everybody declares the truth", lambda _: 1.0),
        _declared("half of the jobs declare nothing", lambda n: None if n % 2 else 1.0),
        _declared("nobody declares anything", lambda _: None),
    ),
}


def _trial(variation: Variation, scale: Scale, seed: int) -> Trial:
    trace = six_applications(jobs=scale.application_jobs, hours=scale.application_hours, seed=seed)
    settings = variation.settings(application_settings())
    return Trial(trace=variation.trace(trace), candidate=with_policy(settings, OURS, OURS))


def _text(
    tables: Mapping[str, Sequence[Variation]], runs: Mapping[tuple[str, int], Run], scale: Scale
) -> str:
    parts = []
    for title, variations in tables.items():
        rows = [_row(variation, runs, scale) for variation in variations]
        parts.append(table((title, "mean", "p99", "makespan", "rescales per job"), rows))
    return filled(
        "sensitivity",
        tables=paragraphs(*parts),
        liars=LIARS,
        lies=table(("declarations", "the liar's jobs", "everybody else's"), _lie_rows(runs, scale)),
    )


def _row(variation: Variation, runs: Mapping[tuple[str, int], Run], scale: Scale) -> list[str]:
    found = [runs[variation.name, seed] for seed in scale.varied_seeds]
    times = ("mean_completion_seconds", "p99_completion_seconds", "makespan_seconds")
    return [
        variation.name,
        *(written(average_of(found, attribute), Unit.SECONDS) for attribute in times),
        written(average_of(found, "rescales_per_job")),
    ]


def _lie_rows(runs: Mapping[tuple[str, int], Run], scale: Scale) -> Iterable[list[str]]:
    for variation in LIES:
        liars, others = (_completion(runs, variation, scale, is_liar=who) for who in (True, False))
        yield [variation.name, written(liars, Unit.SECONDS), written(others, Unit.SECONDS)]


def _completion(
    runs: Mapping[tuple[str, int], Run], variation: Variation, scale: Scale, *, is_liar: bool
) -> float:
    """Mean completion time of the liar's jobs, or of all others'."""
    taken = [
        job.completion_seconds
        for seed in scale.varied_seeds
        for number, job in enumerate(runs[variation.name, seed].result.jobs)
        if job.completion_seconds is not None and _is_liar(number) == is_liar
    ]
    return mean(taken) or 0.0


def _mean(runs: Mapping[tuple[str, int], Run], variation: Variation, scale: Scale) -> float:
    found = [runs[variation.name, seed] for seed in scale.varied_seeds]
    return average_of(found, "mean_completion_seconds") or 0.0


def _claims(runs: Mapping[tuple[str, int], Run], scale: Scale, usual: float) -> Iterable[Claim]:
    truth = _completion(runs, USUAL, scale, is_liar=True)
    for lie in LIES[1:]:
        change = _completion(runs, lie, scale, is_liar=True) / truth - 1 if truth else 0.0
        yield Claim(
            statement=f"A lie gains nothing: {lie.name}",
            measured=f"the liar's jobs take {change:+.1%}",
            verdict=Verdict.of(holds=change > -NOTICEABLE),
            why=LYING,
        )
    unknown = TABLES["knowledge of length"][-1]
    if (unknown.name, scale.varied_seeds[0]) in runs:
        change = _mean(runs, unknown, scale) / usual - 1
        yield Claim(
            statement="Declared lengths are worth having",
            measured=f"without any, jobs take {change:+.1%}",
            verdict=Verdict.of(holds=change > NOTICEABLE),
        )
