"""What is known, what is true, and which rule holds in each row of the table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from autoscaler.simulation.engine.comparison.candidates import Candidate
from autoscaler.simulation.engine.comparison.comparison import replay
from autoscaler.simulation.engine.replay.settings import CheckpointRestart, HotRescale, Knowledge
from benchmarks.caution.rules import Rule, follow
from benchmarks.caution.truths import Truth, under
from benchmarks.reproduction.experiments.all_policies import OURS, application_settings
from benchmarks.reproduction.experiments.founding_paper import with_policy
from benchmarks.reproduction.workloads import six_applications

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autoscaler.simulation.engine.replay.settings import Settings
    from autoscaler.simulation.engine.results.summary import Summary
    from autoscaler.simulation.engine.workload.trace import Trace

JOBS: Final = 160
HOURS: Final = 8.0
RESTART_SECONDS: Final = 30.0
TICK_SECONDS: Final = {False: 60.0, True: 10.0}  # hot changes are cheap: decided often


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line. `knowledge` is a word of `Knowledge`: code of long ago does not know all of them.

    `declared` is a factor on the true lengths; None: no job declares its length.
    """

    name: str
    knowledge: str = "measured"
    noise: float = 0.05  # of the measurements
    declared: float | None = 1.0
    truth: Truth = Truth.FORMULA
    rule: Rule = Rule.OURS

    def replayed(self, seed: int, *, is_hot: bool) -> Summary:
        """The figures of one workload. The planner of this process follows the row's rule then."""
        follow(self.rule)
        return replay(
            self._trace(seed), Candidate(label=self.name, settings=self._settings(is_hot=is_hot))
        ).summary

    def _settings(self, *, is_hot: bool) -> Settings:
        return replace(
            with_policy(application_settings(), OURS, OURS).settings,
            tick_seconds=TICK_SECONDS[is_hot],
            rescale=HotRescale() if is_hot else CheckpointRestart(seconds=RESTART_SECONDS),
            measurement_noise=self.noise,
            knowledge=Knowledge(self.knowledge),
            horizon_seconds=None,  # a job that is cut off counts in no mean
        )

    def _trace(self, seed: int) -> Trace:
        trace = six_applications(jobs=JOBS, hours=HOURS, seed=seed)
        trace, factor = under(self.truth, trace), self.declared
        if factor == 1.0:
            return trace
        jobs = tuple(
            replace(job, declared_samples=None if factor is None else round(factor * job.samples))
            for job in trace.jobs
        )
        return replace(trace, jobs=jobs)


_WRONG: Final = tuple(truth for truth in Truth if truth is not Truth.FORMULA)
ORACLES: Final[Mapping[Truth, Row]] = {
    Truth.FORMULA: Row(name="speeds known", knowledge="oracle"),
    **{truth: Row(name=f"{truth}: known", knowledge="oracle", truth=truth) for truth in _WRONG},
}
MEASURED: Final = Row(name="speeds measured")
ROWS: Final = (
    ORACLES[Truth.FORMULA],
    Row(name="known by an earlier run", knowledge="earlier_runs"),
    Row(name="known after the first measurement", rule=Rule.FIRST_TELLS_ALL),
    MEASURED,
    Row(name="measured, no least gain of a change", rule=Rule.NO_LEAST_GAIN),
    Row(name="measured, no price of changes either", rule=Rule.NO_PRICE),
    Row(name="measured with 15 % noise", noise=0.15),
    Row(name="half of the length declared", declared=0.5),
    Row(name="1.5 times the length declared", declared=1.5),
    Row(name="no length declared", declared=None),
    *(
        row
        for truth in _WRONG
        for row in (ORACLES[truth], Row(name=f"{truth}: measured", truth=truth))
    ),
)
