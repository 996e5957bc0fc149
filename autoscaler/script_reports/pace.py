"""What do the steps that a script told say of its progress and its speed?

A step is timed from one line to the next. The first line of a set of workers only says where they
begin: what lies before the second is start and warm-up. Whatever a script does between two steps,
such as evaluating, is part of its speed, because its end comes later by it.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from autoscaler.script_reports.report_lines import ScriptReport
from jobs.reports.fields import LARGEST_COUNT
from jobs.reports.sync_report import MeasurementEntry, MetricEntry

_SHORTEST_SECONDS: Final = 1e-9
_LONGEST_SECONDS: Final = 1e9  # of a step; what lies beyond is no measurement


@dataclass(slots=True, kw_only=True)
class GenerationThroughput:
    """How fast one generation of workers is; remembered as JSON from one look to the next."""

    generation: int
    workers: int
    global_batch_size: int
    step: int | None = None  # newest
    at: float = 0.0
    samples: int | None = None  # as told; None: never
    total_steps: int | None = None
    lines: int = 0  # that told something; they are the steps where a script tells none
    begun_step: int | None = None  # from which steps are timed
    begun_at: float = 0.0
    begun_samples: int | None = None
    values: dict[str, float] = field(default_factory=dict)  # told at the newest step

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> GenerationThroughput:
        return cls(**document)

    def to_json(self) -> dict[str, Any]:
        finite = {name: value for name, value in self.values.items() if math.isfinite(value)}
        return {**asdict(self), "values": finite}

    def take(self, lines: list[ScriptReport], *, counts_lines: bool) -> list[MetricEntry]:
        """Note what was told, oldest first; return the points of the curve, at most one a second.

        `counts_lines`: nobody tells steps; lines are numbered instead, and say nothing of speed.
        """
        points: list[MetricEntry] = []
        for one in lines:
            step = self._step_of(one, counts_lines=counts_lines)
            if step is None:
                continue
            point = self._move(one, step, is_timed=not counts_lines)
            if points and (points[-1].step == step or _second(points[-1]) == _second(point)):
                values = {"values": points[-1].values | point.values}
                points[-1] = point.model_copy(update=values)
            else:
                points.append(point)
        return points

    @property
    def measurement(self) -> MeasurementEntry | None:
        """The mean time of a step with the global batch that the platform knows of."""
        if self.step is None or self.begun_step is None or self.step <= self.begun_step:
            return None
        steps = self.step - self.begun_step
        seconds = (self.at - self.begun_at) / steps * self._batches_in_a_step
        if not _SHORTEST_SECONDS <= seconds <= _LONGEST_SECONDS:
            return None
        return MeasurementEntry(
            workers=self.workers,
            global_batch_size=self.global_batch_size,
            steps=min(steps, 2**31 - 1),
            step_seconds=seconds,
        )

    @property
    def total_samples(self) -> int | None:
        """Return those of the whole job, if its script told how many steps it will make."""
        if not self.total_steps or self.step is None:
            return None
        each = self.samples / self.step if self.samples and self.step else self.global_batch_size
        return min(round(each * self.total_steps), LARGEST_COUNT)

    @property
    def _batches_in_a_step(self) -> float:
        """Return how many steps of the script make one with the batch that the platform knows."""
        if self.samples is None or self.begun_samples is None or self.step is None:
            return 1.0
        used = self.samples - self.begun_samples
        own_batch = used / max(self.step - (self.begun_step or 0), 1)
        return self.global_batch_size / own_batch if own_batch > 0 else 1.0

    def _step_of(self, line: ScriptReport, *, counts_lines: bool) -> int | None:
        """A line without a step belongs to the newest."""
        self.lines += 1
        if counts_lines:
            return self.lines
        return self.step if line.step is None else line.step

    def _move(self, line: ScriptReport, step: int, *, is_timed: bool) -> MetricEntry:
        before_step, before_at, before_samples = self.step, self.at, self.samples
        if step != before_step:
            self.values = {}
        self.values |= line.values
        self.total_steps = line.total_steps or self.total_steps
        goes_back = before_step is not None and (step < before_step or line.at < before_at)
        if is_timed and (before_step is None or goes_back):
            self.begun_step, self.begun_at, self.begun_samples = step, line.at, line.samples
        self.step, self.at = step, line.at if step != before_step else before_at
        self.samples = line.samples if line.samples is not None else before_samples
        seconds = 0.0
        if is_timed and before_step is not None and step > before_step and not goes_back:
            seconds = (line.at - before_at) / (step - before_step)
        samples = self._samples_at(step, is_timed=is_timed)
        batch = self.global_batch_size / self._batches_in_a_step
        return MetricEntry.model_validate(
            {
                "at": line.at,
                "generation": self.generation,
                "step": step,
                "epoch": line.epoch or 0.0,
                "samples": samples,
                "samples_per_second": batch / seconds if seconds > 0 else 0.0,
                "step_seconds": seconds,
                "compute_seconds": seconds,
                "learning_rate": line.learning_rate or 0.0,
                "values": dict(self.values),
            }
        )

    def _samples_at(self, step: int, *, is_timed: bool) -> int:
        if self.samples is not None:
            return self.samples
        return min(step * self.global_batch_size, LARGEST_COUNT) if is_timed else 0


def _second(point: MetricEntry) -> int:
    """A curve has one point for each, as coordinators report them."""
    return int(point.at.timestamp())
