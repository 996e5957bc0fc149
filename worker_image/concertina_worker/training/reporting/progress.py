"""What does the coordinator hear of the training? Once a second, and never making a step wait.

Progress from the main worker, for all have made the same; its own pace from every one.
"""

from __future__ import annotations

from collections.abc import Mapping

from concertina_worker.membership.alone import Alone
from concertina_worker.membership.membership import WorkerMembership
from concertina_worker.protocol import MeasurementReport
from concertina_worker.training.reporting.pace import OwnPace
from concertina_worker.training.reporting.reports import StepClock, StepReporter
from concertina_worker.training.step import CommittedStep
from concertina_worker.wire import FromWorker


class ProgressReporter:
    """Tells what passes; never makes a step wait."""

    def __init__(self, membership: WorkerMembership | Alone) -> None:
        self._membership = membership
        self._reporter = StepReporter()
        self._pace = OwnPace()
        self._measurement: MeasurementReport | None = None
        self._noise_scale: float | None = None
        self._length: int | None = None
        self._has_new_values = False

    def add(self, step: CommittedStep, clock: StepClock) -> None:
        """A step was committed."""
        seconds = clock.commit(
            is_whole_batch=step.batch == step.global_batch_size,
            is_switching=step.computing < step.workers,
        )
        if clock.stall_seconds is not None:
            self._membership.tell(
                FromWorker.SETTLED,
                generation=step.generation,
                stall_seconds=clock.stall_seconds,
                transfer_seconds=self._membership.transfer_seconds,
            )
        self._pace.add(step)
        if pace := self._pace.take():
            self._membership.tell(FromWorker.PACE, **pace)
        self._reporter.add(seconds, step)
        self._noise_scale = step.noise_scale
        self._measurement = clock.measurement(
            workers=step.workers, global_batch_size=step.global_batch_size
        )
        if self._reporter.is_due:
            self.flush()

    def log(self, values: Mapping[str, float]) -> None:
        self._reporter.values.update({name: float(value) for name, value in values.items()})
        self._has_new_values = True

    def tell_length(self, total_samples: int) -> None:
        if total_samples != self._length:
            self._length = total_samples
            self._membership.tell(FromWorker.LENGTH, total_samples=total_samples)

    def flush(self) -> None:
        """Tell now what has passed since the last report."""
        metric = self._reporter.take(repeat=self._has_new_values)
        self._has_new_values = False
        if metric is not None and self._membership.rank == 0:
            self._membership.tell(
                FromWorker.PROGRESS,
                metric=metric,
                measurement=self._measurement,
                noise_scale=self._noise_scale,
            )
