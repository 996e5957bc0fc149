"""How fast are jobs truly, where no throughput model describes it? A fit is always wrong there."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import numpy as np

from autoscaler.planning.speed.throughput import ThroughputModel
from benchmarks.reproduction.workloads import GPUS_PER_NODE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autoscaler.planning.speed.throughput import Column, Configurations
    from autoscaler.simulation.engine.workload.trace import Trace, TraceJob

_SPREAD: Final = 0.2  # of the time that one worker takes for a step, beside the others'


class Truth(StrEnum):
    """How every other job is; the rest is as the formula says."""

    FORMULA = "as the formula says"
    ONE_NODE = "every other job stops scaling at one node"
    STRAGGLERS = "every other job waits for its slowest worker"


@dataclass(frozen=True, kw_only=True)
class _StopsAtOneNode(ThroughputModel):
    """With more workers than a node holds a step takes as long as with as many as it holds."""

    def step_seconds(self, at: Configurations) -> Column:
        folds = np.maximum(at.workers / GPUS_PER_NODE, 1.0)
        folded = replace(
            at,
            workers=at.workers / folds,
            crosses_nodes=at.crosses_nodes & (folds <= 1.0),
            local_batch=at.local_batch * folds,
            micro_batches=np.ceil(at.micro_batches * folds),
        )
        return super().step_seconds(folded)


@dataclass(frozen=True, kw_only=True)
class _Stragglers(ThroughputModel):
    """Each worker takes its own time; the slowest of k is this much slower than they are usually.

    The largest of k normal deviations is about sqrt(2 ln k).
    """

    def step_seconds(self, at: Configurations) -> Column:
        slowest = 1 + _SPREAD * np.sqrt(2 * np.log(np.maximum(at.workers, 1.0)))
        return np.asarray(super().step_seconds(at) * slowest)


_MODELS: Final[Mapping[Truth, type[ThroughputModel]]] = {
    Truth.FORMULA: ThroughputModel,
    Truth.ONE_NODE: _StopsAtOneNode,
    Truth.STRAGGLERS: _Stragglers,
}


def under(truth: Truth, trace: Trace) -> Trace:
    """The trace with every other job as that truth says."""
    jobs = tuple(_under(truth, job) if number % 2 else job for number, job in enumerate(trace.jobs))
    return replace(trace, jobs=jobs)


def _under(truth: Truth, job: TraceJob) -> TraceJob:
    model = _MODELS[truth](**asdict(job.profile.model))
    return replace(job, profile=replace(job.profile, model=model))
