"""Which candidate serves a workload best? Several simulations of one trace, side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from autoscaler.plots.units import Unit
from autoscaler.simulation.engine.replay.simulator import run
from autoscaler.simulation.engine.results.summary import Summary, summarise

if TYPE_CHECKING:
    from autoscaler.simulation.engine.comparison.candidates import Candidate
    from autoscaler.simulation.engine.results.records import SimulationProgress, SimulationResult
    from autoscaler.simulation.engine.workload.trace import Trace


class BetterEnd(StrEnum):
    """Which end of a figure is the good one."""

    LOW = "low"
    HIGH = "high"
    NEITHER = "neither"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one candidate made of the trace."""

    label: str
    result: SimulationResult
    summary: Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Runs of the same trace, in the order they were asked for; `gpus` is the largest cluster."""

    trace: str
    gpus: int
    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A column of the comparison: an attribute of the summary and how to read it."""

    attribute: str
    heading: str
    meaning: str
    unit: Unit = Unit.NUMBER
    better: BetterEnd = BetterEnd.LOW

    def of(self, summary: Summary) -> float | None:
        value: float | None = getattr(summary, self.attribute)
        return value

    def best(self, runs: Sequence[Run]) -> float | None:
        """The best value of the column; None where all are equal or neither is better."""
        known = [value for run in runs if (value := self.of(run.summary)) is not None]
        if self.better is BetterEnd.NEITHER or len(set(known)) <= 1:
            return None
        return min(known) if self.better is BetterEnd.LOW else max(known)


FIGURES: Final = (
    Figure(
        attribute="mean_completion_seconds",
        heading="mean",
        meaning="Mean completion time of finished jobs, waiting included",
        unit=Unit.SECONDS,
    ),
    Figure(
        attribute="p50_completion_seconds",
        heading="p50",
        meaning="Half of the finished jobs took no longer",
        unit=Unit.SECONDS,
    ),
    Figure(
        attribute="p99_completion_seconds",
        heading="p99",
        meaning="99 % of the finished jobs took no longer",
        unit=Unit.SECONDS,
    ),
    Figure(
        attribute="makespan_seconds",
        heading="makespan",
        meaning="From the first submission to the last finish",
        unit=Unit.SECONDS,
    ),
    Figure(attribute="done", heading="done", meaning="Jobs that finished", better=BetterEnd.HIGH),
    Figure(attribute="dropped", heading="dropped", meaning="Jobs refused for good"),
    Figure(attribute="backlog", heading="backlog", meaning="Jobs unfinished at the end"),
    Figure(
        attribute="gpu_hours",
        heading="GPU-hours",
        meaning="GPU time that jobs held",
        better=BetterEnd.NEITHER,
    ),
    Figure(
        attribute="utilisation",
        heading="used",
        meaning="Share of the cluster's GPU time that jobs held",
        unit=Unit.SHARE,
        better=BetterEnd.NEITHER,
    ),
    Figure(
        attribute="scaling_efficiency",
        heading="efficiency",
        meaning="Speed-up per GPU held; 100 %: each GPU works as well as a job's first",
        unit=Unit.SHARE,
        better=BetterEnd.NEITHER,
    ),
    Figure(
        attribute="rescales_per_job",
        heading="rescales",
        meaning="Changes of workers or batch per job",
        better=BetterEnd.NEITHER,
    ),
    Figure(
        attribute="worst_fairness",
        heading="unfairness",
        meaning="Worst finish-time fairness rho: above 1 a job fared worse than alone on its share",
    ),
    Figure(
        attribute="mean_decision_seconds",
        heading="decision",
        meaning="Mean time of one plan of the whole cluster",
        unit=Unit.SECONDS,
        better=BetterEnd.NEITHER,
    ),
    Figure(
        attribute="max_decision_seconds",
        heading="longest",
        meaning="Longest plan",
        unit=Unit.SECONDS,
        better=BetterEnd.NEITHER,
    ),
)


def replay(
    trace: Trace,
    candidate: Candidate,
    *,
    clock: Callable[[], float] | None = None,
    on_progress: Callable[[SimulationProgress], None] | None = None,
) -> Run:
    """Simulate the trace on one candidate. `clock` measures decisions and changes nothing else."""
    result = run(trace, candidate.settings, clock=clock, on_progress=on_progress)
    return run_of(candidate.label, result, gpus=candidate.gpus)


def run_of(label: str, result: SimulationResult, *, gpus: int) -> Run:
    return Run(label=label, result=result, summary=summarise(result, gpus=gpus))
