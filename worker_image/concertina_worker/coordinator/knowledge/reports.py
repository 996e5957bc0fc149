"""What has the service not been told yet? A bounded buffer, kept until the service has it.

When the service is away for long, the metrics are thinned (every other one is dropped) instead
of cut off: the curve keeps its whole length. Generations are few: of
thousands the newest are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from concertina_worker.coordinator.events import WorkerSettled
from concertina_worker.protocol import (
    MOST_GENERATIONS,
    MOST_MEASUREMENTS,
    MOST_METRICS,
    GenerationReport,
    MeasurementReport,
    MetricReport,
    SyncReport,
)

MAX_METRICS: Final = MOST_METRICS
MAX_GENERATIONS: Final = 10 * MOST_GENERATIONS  # as many as the service keeps of a job


@dataclass(slots=True, kw_only=True)
class PendingReports:
    """Generations and metrics to send; the newest measurement of each configuration."""

    generations: list[GenerationReport] = field(default_factory=list)
    metrics: list[MetricReport] = field(default_factory=list)
    measurements: list[MeasurementReport] = field(default_factory=list)
    draft: GenerationReport | None = None  # of the active generation: its stall is not known yet
    awaited: list[str] = field(default_factory=list)  # workers that have not told their stall
    kept_at: float = 0.0  # the newest point whose place none takes, in Unix seconds; not stored

    def begin(self, generation: GenerationReport, *, awaited: tuple[str, ...]) -> None:
        """A generation began; its report waits until every stayer has told its stall."""
        self.finish_draft()
        self.draft = generation
        self.awaited = list(awaited)

    def settle(self, settled: WorkerSettled) -> None:
        """A generation cost what it cost the worker that it cost most."""
        draft = self.draft
        if draft is None or draft["number"] != settled.generation:
            return
        draft["stall_seconds"] = max(draft["stall_seconds"], settled.stall_seconds)
        draft["transfer_seconds"] = max(
            draft.get("transfer_seconds", 0.0), settled.transfer_seconds
        )
        self.stop_awaiting(settled.worker)

    def stop_awaiting(self, worker: str) -> None:
        if worker in self.awaited:
            self.awaited.remove(worker)
        if not self.awaited:
            self.finish_draft()

    def finish_draft(self) -> None:
        if self.draft is not None:
            self.generations = [*self.generations, self.draft][-MAX_GENERATIONS:]
        self.draft = None
        self.awaited = []

    def add_metric(self, metric: MetricReport, *, apart_seconds: float = 0.0) -> None:
        """Keep the point; it takes the place of the newest if that stands too close to another.

        What was logged at either stays.
        """
        newest = self.metrics[-1] if self.metrics else None
        if newest is not None and _may_go(newest, metric, self.kept_at + apart_seconds):
            values = {**newest["values"], **metric["values"]}
            self.metrics[-1] = {**metric, "values": values}
            return
        if newest is not None:
            self.kept_at = newest["at"]
        self.metrics.append(metric)
        if len(self.metrics) > MAX_METRICS:
            self.metrics = self.metrics[::-2][::-1]  # keeps the newest

    def add_measurement(self, measurement: MeasurementReport) -> None:
        key = (measurement["workers"], measurement["global_batch_size"])
        others = [m for m in self.measurements if (m["workers"], m["global_batch_size"]) != key]
        self.measurements = [*others, measurement][-MOST_MEASUREMENTS:]

    def acknowledge(self, generations: list[GenerationReport], metrics: list[MetricReport]) -> None:
        """The service has these: forget them."""
        numbers = {generation["number"] for generation in generations}
        self.generations = [g for g in self.generations if g["number"] not in numbers]
        had = {_name(metric) for metric in metrics}
        self.kept_at = metrics[-1]["at"] if metrics else self.kept_at
        self.metrics = [metric for metric in self.metrics if _name(metric) not in had]

    def give_up(self, refused: SyncReport) -> bool:
        """The service refuses these for good: forget them, generations last; True: anything was.

        What the job trains with matters more than its curve.
        """
        had = refused["metrics"] or refused["measurements"]
        self.acknowledge([] if had else refused["generations"], refused["metrics"])
        self.measurements = [m for m in self.measurements if m not in refused["measurements"]]
        return bool(had or refused["generations"])

    def to_json(self) -> dict[str, Any]:
        return {
            "generations": self.generations,
            "metrics": self.metrics,
            "measurements": self.measurements,
            "draft": self.draft,
            "awaited": self.awaited,
        }

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> PendingReports:
        return cls(**document)


def _may_go(newest: MetricReport, coming: MetricReport, kept_until: float) -> bool:
    """True if another point of the same generation stands so shortly before the newest.

    A clock that was set back is another's: then both stay.
    """
    is_same = newest["generation"] == coming["generation"]
    return is_same and newest["at"] < kept_until and newest["at"] <= coming["at"]


def _name(metric: MetricReport) -> tuple[int, int, float]:
    """Times alone do not tell them apart or order them: each main worker has its own clock."""
    return (metric["generation"], metric["step"], metric["at"])
